// Package server is the HTTP API of the rooms of a device. One handler serves the
// processes of this user through a unix socket, and others through TCP; they differ
// only in how a request says who sends it.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/mcp"
	"github.com/folkmoot/moot/internal/sessions"
	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/problem"
)

// Config says what a Server serves.
type Config struct {
	Host    *moot.Host
	Log     *slog.Logger // nil discards it
	Version string       // of this program
	// Keys check the tokens of requests; nil accepts none.
	Keys *access.Keys
	// Sessions are the agent sessions; nil serves none. The caller closes them.
	Sessions *sessions.Sessions
	// URL returns the address at which browsers reach this server, "" while it
	// listens on no TCP address; may be nil.
	URL func() string
	// Placement tells where requests about a room are answered; nil is here.
	Placement Placement
}

// A Server answers requests about the rooms of a Host. It is safe for concurrent
// use.
type Server struct {
	cfg    Config
	mux    *http.ServeMux
	api    huma.API
	routes []Route
	need   Scope // of the route that is being registered

	launcher *access.Launcher
	tools    *mcp.Server
}

// A Route is one way to call the server.
type Route struct {
	Method, Path string
	Need         Scope
}

// New makes a Server. The caller keeps the Host open while requests are served.
func New(c Config) *Server {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: c, mux: http.NewServeMux(), launcher: access.NewLauncher(c.Keys)}
	useProblems()
	s.api = humago.New(guarded{s}, apiConfig(c.Version))
	s.registerHealth()
	s.registerRooms()
	s.registerAccess()
	s.registerSessions()
	s.registerMessages()
	s.registerMCP()
	s.registerInbox()
	s.registerA2A()
	s.registerDevice()
	s.registerSeats()
	return s
}

// Close ends what requests have left: sessions of clients of tools. No request may be
// in progress.
func (s *Server) Close() error { return s.tools.Close() }

// Routes returns the routes, in the order of registration.
func (s *Server) Routes() []Route { return slices.Clone(s.routes) }

// Handler serves requests whose senders identify tells.
func (s *Server) Handler(identify Identify) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secureHeaders(w.Header())
		c, err := identify(r)
		if err == nil {
			err = s.checkRoute(c, r)
		}
		if err == nil {
			err = access.ReadBody(w, r)
		}
		if err != nil {
			s.fail(w, err)
			return
		}
		s.mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
	})
}

// maxDepth is how deep the JSON of a request may be nested.
const maxDepth = 16

// apiConfig returns the description that OpenAPI begins with. Requests are strict
// JSON; the routes for documents are our own.
func apiConfig(version string) huma.Config {
	c := huma.DefaultConfig("Folkmoot", version)
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil // no $schema in bodies
	c.RejectUnknownQueryParameters = true
	format := huma.Format{
		Marshal:   func(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) },
		Unmarshal: func(b []byte, v any) error { return strict.Decode(b, maxDepth, v) },
	}
	c.Formats = map[string]huma.Format{"application/json": format, "json": format} // json is the suffix of problem+json
	return c
}

// useProblems makes huma answer with problems of our form. It is a setting of the
// whole library.
var useProblems = sync.OnceFunc(func() {
	huma.NewError = func(status int, what string, errs ...error) huma.StatusError {
		if p, ok := errors.AsType[*api.Problem](errors.Join(errs...)); ok {
			return p
		}
		e := &problem.Error{Code: "API-REQUEST", What: what, Fix: "`moot schema openapi` describes the requests"}
		for _, err := range errs {
			if d, ok := err.(huma.ErrorDetailer); ok {
				e.What += ": " + d.ErrorDetail().Location + ": " + d.ErrorDetail().Message
			} else if err != nil {
				e.What += ": " + err.Error()
			}
		}
		return api.ProblemOf(status, e)
	}
})

// route registers an operation for callers who have the scope need.
func route[I, O any](s *Server, need Scope, op huma.Operation, handle func(context.Context, *I) (*O, error)) {
	s.need = need
	// The body has been read, within its own time and size. A deadline of huma would stay
	// on the connection and end requests that take longer.
	op.BodyReadTimeout, op.MaxBodyBytes = -1, -1
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err != nil {
			return nil, api.ProblemOf(0, err)
		}
		return out, nil
	})
}

// raw registers a handler that writes the response itself, such as a stream.
func (s *Server) raw(need Scope, method, path, summary string, handle http.HandlerFunc) {
	s.need = need
	s.api.OpenAPI().AddOperation(&huma.Operation{Method: method, Path: path, Summary: summary, Responses: map[string]*huma.Response{"200": {Description: "a stream"}}})
	guarded{s}.HandleFunc(method+" "+path, handle)
}

// guarded is the mux as huma sees it: each handler runs only for those who may call
// it.
type guarded struct{ *Server }

// HandleFunc implements [humago.Mux].
func (g guarded) HandleFunc(pattern string, handle func(http.ResponseWriter, *http.Request)) {
	s, need := g.Server, g.need
	method, path := splitPattern(pattern)
	s.routes = append(s.routes, Route{method, path, need})
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if err := CallerOf(r.Context()).check(need, r.PathValue("room"), r.PathValue("seat")); err != nil {
			s.fail(w, err)
			return
		}
		if s.forwarded(w, r, r.PathValue("room")) {
			return
		}
		handle(w, r)
	})
}

// ServeHTTP implements [humago.Mux].
func (g guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.mux.ServeHTTP(w, r) }

// fail answers with err.
func (s *Server) fail(w http.ResponseWriter, err error) {
	p, ok := errors.AsType[*api.Problem](err)
	if !ok {
		p = api.ProblemOf(0, err)
	}
	w.Header().Set("Content-Type", api.ProblemType)
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if retry, ok := errors.AsType[*access.RetryError](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(retry.After.Seconds()))))
	}
	w.WriteHeader(p.Status)
	if err := json.NewEncoder(w).Encode(p); err != nil {
		s.cfg.Log.Debug("a problem was not delivered", "error", err)
	}
}
