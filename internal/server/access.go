package server

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/sessions"
	"github.com/folkmoot/moot/problem"
)

// SocketHandler serves requests of this user's processes, through a socket that no
// other user can open. A bearer, if a request has one, says who sends it: the agent
// of a seat has no more rights here than elsewhere.
func (s *Server) SocketHandler() http.Handler {
	return s.Handler(func(r *http.Request) (Caller, error) {
		if c, ok, err := forwardedCaller(r); ok || err != nil {
			return c, err
		}
		c, err := LocalUser(r)
		header, ok := r.Header["Authorization"]
		switch {
		case err != nil:
			return Caller{}, err
		case r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "":
			return Caller{}, &problem.Error{Code: "API-ORIGIN", What: "a browser reaches the socket through another program", Fix: "open the address that `moot serve` prints"}
		case !ok:
			return c, nil
		case s.cfg.Keys == nil:
			return Caller{}, noKeys()
		}
		g, err := s.cfg.Keys.CheckHeader(header[0])
		return callerOf(access.Credential{Grant: g}), err
	})
}

// TCPHandler serves requests that come over TCP, which need a token or a cookie.
// Besides the address that is listened on, the server answers to hosts.
func (s *Server) TCPHandler(hosts access.Hosts) http.Handler {
	if s.cfg.Keys == nil {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { s.fail(w, noKeys()) })
	}
	guard := &access.Guard{Keys: s.cfg.Keys, Hosts: hosts}
	admitted := s.Handler(func(r *http.Request) (Caller, error) {
		c, err := guard.Check(r)
		if err != nil {
			return Caller{}, err
		}
		return callerOf(c), nil
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		admitted.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), guardKey{}, guard)))
	})
}

type guardKey struct{}

func noKeys() error {
	return &problem.Error{Code: "API-UNAUTHORIZED", What: "this server has no keys, so no token is valid", Fix: "use the socket of `moot serve`"}
}

func callerOf(c access.Credential) Caller {
	if c.Scope == Nobody {
		return Caller{}
	}
	return Caller{Name: c.Name, Scope: c.Scope, Room: c.Room, Seat: c.Seat, Via: via(c)}
}

func via(c access.Credential) string {
	if c.Cookie {
		return "page"
	}
	return "http"
}

// checkRoute refuses an unknown caller where no open route is, so that it does not
// learn which routes exist.
func (s *Server) checkRoute(c Caller, r *http.Request) error {
	if _, pattern := s.mux.Handler(r); c.Scope == Nobody && pattern == "" {
		return c.check(Read, "", "")
	}
	return nil
}

// secureHeaders tells browsers to show nothing of a response in other pages, to
// store nothing, and to run nothing.
func secureHeaders(h http.Header) {
	for name, value := range map[string]string{
		"Content-Security-Policy":      "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Cache-Control":                "no-store",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cross-Origin-Opener-Policy":   "same-origin",
	} {
		h.Set(name, value)
	}
}

type (
	callerOutput struct{ Body api.Caller }
	tokenInput   struct{ Body api.NewToken }
	tokenOutput  struct{ Body api.Token }
	tokensOutput struct{ Body []api.Token }
	tokenID      struct {
		ID string `path:"id" maxLength:"64"`
	}
	launchInput  struct{ Body api.NewLaunch }
	launchOutput struct{ Body api.Launch }
)

func (s *Server) registerAccess() {
	route(s, Read, huma.Operation{OperationID: "caller", Method: http.MethodGet, Path: "/api/caller", Summary: "Show who the caller is"}, s.caller)
	route(s, Admin, huma.Operation{OperationID: "tokens", Method: http.MethodGet, Path: "/api/tokens", Summary: "List the tokens that were issued by name"}, s.tokens)
	route(s, Admin, huma.Operation{OperationID: "newToken", Method: http.MethodPost, Path: "/api/tokens", Summary: "Issue a token", DefaultStatus: http.StatusCreated}, s.newToken)
	route(s, Admin, huma.Operation{OperationID: "revokeToken", Method: http.MethodDelete, Path: "/api/tokens/{id}", Summary: "Revoke a token", DefaultStatus: http.StatusNoContent}, s.revokeToken)
	route(s, Admin, huma.Operation{OperationID: "launch", Method: http.MethodPost, Path: "/api/launches", Summary: "Make an address that signs a browser in, once", DefaultStatus: http.StatusCreated}, s.launch)
	s.raw(Nobody, http.MethodGet, "/launch", "The page that signs a browser in", launchPage)
	s.raw(Nobody, http.MethodPost, "/launch", "Exchange a launch code for a cookie", s.exchange)
}

func (s *Server) caller(ctx context.Context, _ *struct{}) (*callerOutput, error) {
	c := CallerOf(ctx)
	return &callerOutput{api.Caller{Name: c.Name, Scope: c.Scope.String(), Room: c.Room, Seat: c.Seat, Session: s.session(c), Via: c.Via}}, nil
}

// session returns the id of the caller's own session, "" if it is no agent.
func (s *Server) session(c Caller) string {
	switch {
	case c.Seat == "":
		return ""
	case s.cfg.Sessions == nil:
		return c.Room + "." + c.Seat
	}
	return s.cfg.Sessions.IDOf(sessions.Sender{Room: c.Room, Seat: c.Seat})
}

func (s *Server) tokens(context.Context, *struct{}) (*tokensOutput, error) {
	if s.cfg.Keys == nil {
		return nil, noKeys()
	}
	list, err := s.cfg.Keys.List()
	out := &tokensOutput{Body: []api.Token{}}
	for _, t := range list {
		out.Body = append(out.Body, api.TokenOf("", t))
	}
	return out, err
}

func (s *Server) newToken(_ context.Context, in *tokenInput) (*tokenOutput, error) {
	if s.cfg.Keys == nil {
		return nil, noKeys()
	}
	scope, err := access.ParseScope(in.Body.Scope)
	if err != nil {
		return nil, err
	}
	expires, err := access.ParseExpiry(in.Body.Expires, time.Now())
	if err != nil {
		return nil, err
	}
	secret, t, err := s.cfg.Keys.Issue(access.Grant{Name: in.Body.Name, Scope: scope, Room: in.Body.Room, Seat: in.Body.Seat, Expires: expires})
	return &tokenOutput{api.TokenOf(secret, t)}, err
}

func (s *Server) revokeToken(_ context.Context, in *tokenID) (*struct{}, error) {
	if s.cfg.Keys == nil {
		return nil, noKeys()
	}
	return nil, s.cfg.Keys.Revoke(in.ID)
}

func (s *Server) launch(ctx context.Context, in *launchInput) (*launchOutput, error) {
	scope, err := access.ParseScope(cmp.Or(in.Body.Scope, CallerOf(ctx).Scope.String()))
	if err != nil {
		return nil, err
	}
	l, err := s.LaunchURL(scope)
	return &launchOutput{l}, err
}

// A Scope says what a caller may do. Each includes those before it.
type Scope = access.Scope

// Scopes.
const (
	Nobody  Scope = 0 // not known: such a caller may call open routes only
	Read          = access.Read
	Talk          = access.Talk
	Control       = access.Control
	Admin         = access.Admin
)

// A Caller is who sends a request. It comes from the credential, never from the
// body of the request.
type Caller struct {
	Name  string // of the credential, for records
	Scope Scope
	Room  string // the only room that the caller may use; "" is any
	Seat  string // the seat that the caller acts as; "" is none
	Via   string // how the request came: socket, http, page or mcp
}

// An Identify tells who sends a request. An error refuses it; a request without a
// credential comes from the zero Caller.
type Identify func(*http.Request) (Caller, error)

// LocalUser identifies everybody as the user of this machine. It is for a socket
// that only this user can open.
func LocalUser(r *http.Request) (Caller, error) {
	return Caller{Name: "local user", Scope: Admin, Via: "socket"}, access.CheckForm(r)
}

type callerKey struct{}

// CallerOf returns who sent the request with that context.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// check refuses a caller who may not use a route with that need, room and seat. Both
// are "" for routes without.
func (c Caller) check(need Scope, room, seat string) error {
	switch {
	case need == Nobody:
		return nil
	case c.Scope == Nobody:
		return &problem.Error{Code: "API-UNAUTHORIZED", What: "the request has no credential", Fix: "send one: Authorization: Bearer TOKEN; `moot token new` makes a token"}
	case c.Scope < need:
		return &problem.Error{Code: "API-FORBIDDEN", What: fmt.Sprintf("%s may %s, and this needs %s", c.Name, c.Scope, need), Fix: "use a token with that scope: `moot token new --scope " + need.String() + "`"}
	case c.Room != "" && room != "" && c.Room != room, c.Seat != "" && seat != "" && c.Seat != seat:
		return &problem.Error{Code: "API-FORBIDDEN", What: c.Name + " is for another room or seat", Fix: "use a token of this one"}
	}
	return nil
}

// splitPattern splits a pattern of [http.ServeMux] with a method.
func splitPattern(pattern string) (method, path string) {
	method, path, _ = strings.Cut(pattern, " ")
	return method, path
}
