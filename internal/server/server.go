// Package server is the HTTP API of the rooms of a device. One handler serves the
// processes of this user through a unix socket, and others through TCP; they differ
// only in how a request says who sends it.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/pprof"
	runtime "runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/mcp"
	"github.com/folkmoot/moot/internal/sessions"
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
	// NodeOf returns what tells the address of the node of a room; nil where one process
	// runs all rooms.
	NodeOf func(context.Context) (func(ctx context.Context, room string) string, error)
	// Device tells where requests about this device toward other owners are
	// answered; nil is here.
	Device func(context.Context) (net.Conn, error)
	// Others returns the other processes of the data folder that run rooms, whose
	// items are in the inbox too, as are those of stored rooms; nil is for a process
	// that answers for its own rooms only.
	Others func() (map[string]*client.Client, error)
	// Nodes returns clients of the other nodes, for the inbox too; nil where one process
	// runs all rooms.
	Nodes func() (map[string]*client.Client, error)
	// Own says that the list of rooms has only those that this process runs.
	Own bool
	// Metrics serves the metrics of the rooms; nil serves none.
	Metrics http.Handler
	// Demo says that the rooms are a demonstration, which their pages show.
	Demo bool
}

// A Server answers requests about the rooms of a Host. It is safe for concurrent
// use.
type Server struct {
	cfg    Config
	mux    *http.ServeMux
	api    huma.API
	routes []Route
	need   Scope // of the route that is being registered
	online bool  // the route that is being registered needs the process that is online

	launcher *access.Launcher
	replays  chan struct{} // one for each replay that runs
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
	s := &Server{cfg: c, mux: http.NewServeMux(), launcher: access.NewLauncher(c.Keys), replays: make(chan struct{}, maxReplays)}
	useProblems()
	s.api = humago.New(guarded{s}, apiConfig(c.Version))
	s.api.UseMiddleware(s.negotiate)
	s.registerOpenAPI()
	s.registerRooms()
	s.registerCommands()
	s.registerEvents()
	s.registerExport()
	s.registerAccess()
	s.registerSessions()
	s.registerMessages()
	s.registerMCP()
	s.registerInbox()
	s.registerA2A()
	s.registerDevice()
	s.registerSeats()
	s.registerHistory()
	s.registerAgents()
	s.registerTurns()
	s.registerPolicies()
	s.registerPages()
	s.registerOperation()
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
			s.refuse(w, r, err)
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
		if h, pattern := s.mux.Handler(r); pattern == "" {
			s.missing(w, r, h)
			return
		}
		s.mux.ServeHTTP(w, r)
	})
}

// route registers an operation for callers who have the scope need.
func route[I, O any](s *Server, need Scope, op huma.Operation, handle func(context.Context, *I) (*O, error)) {
	s.need = need
	huma.Register(s.api, s.describe(need, op), func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err != nil {
			return nil, s.problemOf(ctx, err)
		}
		return out, nil
	})
}

// raw registers a handler that writes the response itself, such as a stream.
func (s *Server) raw(need Scope, method, path, summary string, handle http.HandlerFunc) {
	s.rawAs(need, huma.Operation{Method: method, Path: path, Summary: summary, Responses: map[string]*huma.Response{"200": {Description: "a stream"}}}, handle)
}

// rawAs is raw with the whole description of the operation.
func (s *Server) rawAs(need Scope, op huma.Operation, handle http.HandlerFunc) {
	s.need = need
	pattern := op.Method + " " + op.Path
	op.Path = strings.TrimSuffix(op.Path, "{$}")
	op = s.describe(need, op)
	s.api.OpenAPI().AddOperation(&op)
	guarded{s}.HandleFunc(pattern, handle)
}

// guarded is the mux as huma sees it: each handler runs only for those who may call
// it.
type guarded struct{ *Server }

// HandleFunc implements [humago.Mux].
func (g guarded) HandleFunc(pattern string, handle func(http.ResponseWriter, *http.Request)) {
	s, need, online := g.Server, g.need, g.online
	method, path := splitPattern(strings.TrimSuffix(pattern, "{$}"))
	s.routes = append(s.routes, Route{method, path, need})
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if err := CallerOf(r.Context()).check(need, r.PathValue("room"), r.PathValue("seat")); err != nil {
			s.refuse(w, r, err)
			return
		}
		if s.forwarded(w, r, s.roomOf(r)) || online && s.forwardedToDevice(w, r) {
			return
		}
		s.follow(w, r, handle)
	})
}

// ServeHTTP implements [humago.Mux].
func (g guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.mux.ServeHTTP(w, r) }

// fail answers with err.
func (s *Server) fail(w http.ResponseWriter, err error) {
	p := s.problemOf(context.Background(), err)
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

// How long a server that ends waits for the requests that run: until it tells them to
// end, and until it closes their connections. Streams of rooms that have ended end by
// themselves, so they are not told: their readers get the last events also when the
// machine is busy.
const (
	restTimeout = time.Second
	endTimeout  = 5 * time.Second
)

// Serve answers requests on l by handler, one of s, until ctx ends. It then waits for
// the requests that run, but not for long. It closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener, handler http.Handler) error {
	connected, closed := context.WithCancel(context.WithoutCancel(ctx))
	defer closed()
	requests, cut := context.WithCancel(connected)
	defer cut()
	var answers sync.WaitGroup
	web := access.NewHTTPServer(endingWith(requests, &answers, handler))
	web.BaseContext = func(net.Listener) context.Context { return connected }
	web.ErrorLog = slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelDebug)
	served := make(chan error, 1)
	go func() { served <- web.Serve(l) }()
	select {
	case err := <-served:
		return errors.Join(err, web.Close())
	case <-ctx.Done():
	}
	defer time.AfterFunc(restTimeout, cut).Stop()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if web.Shutdown(ending) != nil {
		_ = web.Close() // requests that do not end: their connections are closed
	}
	<-served
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		answers.Wait()
	}()
	select {
	case <-answered:
	case <-ending.Done(): // a WebSocket, which web does not wait for
		closed()
		<-answered
	}
	return nil
}

// connectionKey is the key of the context of a request's connection.
type connectionKey struct{}

// endingWith ends the contexts of requests to h also when requests ends. answers
// counts the requests that h answers.
func endingWith(requests context.Context, answers *sync.WaitGroup, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers.Add(1)
		defer answers.Done()
		ctx, cancel := context.WithCancel(context.WithValue(r.Context(), connectionKey{}, r.Context()))
		defer cancel()
		defer context.AfterFunc(requests, cancel)()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}

// untilClosed returns the context of a request whose answer ends by itself when the
// server does: it ends with the connection only.
func untilClosed(ctx context.Context) (context.Context, context.CancelFunc) {
	connection, ok := ctx.Value(connectionKey{}).(context.Context)
	if !ok {
		return context.WithCancel(ctx)
	}
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(connection, cancel)
	return lasting, func() { stop(); cancel() }
}

// registerOperation registers what the operator of the server needs. The first route tells
// that the server runs, and needs no credential.
func (s *Server) registerOperation() {
	s.raw(Nobody, http.MethodGet, "/healthz", "Whether the server runs", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\n")) // the caller has gone, if not
	})
	text := map[string]*huma.MediaType{"text/plain; version=0.0.4": {}}
	s.rawAs(Read, huma.Operation{
		Method: http.MethodGet, Path: "/metrics", Summary: "The metrics of the rooms, for Prometheus",
		Responses: map[string]*huma.Response{"200": {Description: "The metrics", Content: text}},
	}, s.metrics)
	s.rawAs(Admin, huma.Operation{
		Method: http.MethodGet, Path: "/debug/pprof/{profile}", Summary: "A profile of this process, for `go tool pprof`",
		Responses: map[string]*huma.Response{"200": {Description: "The profile", Content: map[string]*huma.MediaType{"application/octet-stream": {}, "text/plain": {}}}},
	}, s.profile)
}

// metrics serves the metrics of all rooms. A token of one room has no access to them.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	switch c := CallerOf(r.Context()); {
	case c.Room != "" || c.Seat != "":
		s.refuse(w, r, &problem.Error{Code: "API-FORBIDDEN", What: c.Name + " is for one room, and the metrics are of all rooms", Fix: "use a token of the device: `moot token new --scope read`"})
	case s.cfg.Metrics == nil:
		s.refuse(w, r, notFound("page", "/metrics"))
	default:
		s.cfg.Metrics.ServeHTTP(w, r)
	}
}

// profile serves a profile of this process. The names are those of runtime/pprof, profile
// for the processor, and trace.
func (s *Server) profile(w http.ResponseWriter, r *http.Request) {
	switch name := r.PathValue("profile"); {
	case CallerOf(r.Context()).Room != "":
		s.refuse(w, r, &problem.Error{Code: "API-FORBIDDEN", What: "the token is for one room, and the profile is of all", Fix: "use a token of the device"})
	case name == "profile":
		pprof.Profile(w, r)
	case name == "trace":
		pprof.Trace(w, r)
	case runtime.Lookup(name) == nil:
		s.refuse(w, r, notFound("profile", name))
	default:
		pprof.Handler(name).ServeHTTP(w, r)
	}
}
