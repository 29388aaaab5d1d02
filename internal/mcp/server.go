package mcp

import (
	"cmp"
	"context"
	"io"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// An API is the HTTP API with the credential of a client. *client.Client implements
// it.
type API interface {
	// Call sends in to a path and reads the answer into out.
	Call(ctx context.Context, method, path string, in, out any) error
}

// Config says what a Server serves.
type Config struct {
	Version  string        // of this program
	Progress time.Duration // between notifications of a call that waits; 0 is 10 s
	Idle     time.Duration // after which a session of an old client is closed; 0 is 1 hour
}

// A Server serves tools. It is safe for concurrent use.
type Server struct {
	cfg   Config
	sdk   *sdk.Server
	local API // of the only client, over stdio
}

// instructions tell a model what the tools are for.
const instructions = "Folkmoot hosts rooms in which agents and people work on one objective. list_rooms lists the rooms that you may use; an agent in one of them is a session with the id ROOM.SEAT."

// New makes a Server.
func New(c Config) *Server {
	c.Version = cmp.Or(c.Version, "devel")
	c.Progress = cmp.Or(c.Progress, 10*time.Second)
	c.Idle = cmp.Or(c.Idle, time.Hour)
	s := &Server{cfg: c}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "moot", Title: "Folkmoot", Version: c.Version}, &sdk.ServerOptions{
		Instructions: instructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" },
	})
	for _, t := range tools {
		t.register(s)
	}
	s.sdk.AddReceivingMiddleware(s.showTools)
	return s
}

// Serve serves one client, which a is the API of, on in and out until in or ctx ends.
func Serve(ctx context.Context, c Config, a API, in io.ReadCloser, out io.WriteCloser) error {
	s := New(c)
	s.local = a
	return s.sdk.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out})
}

// api returns the API with the credential of a request.
func (s *Server) api(req sdk.Request) API {
	if s.local != nil {
		return s.local
	}
	return apiOf(req.GetExtra())
}

// showTools lists the tools that the caller may use, described for the caller.
func (s *Server) showTools(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		res, err := next(ctx, method, req)
		list, ok := res.(*sdk.ListToolsResult)
		if err != nil || !ok {
			return res, err
		}
		c, err := callerOf(ctx, s.api(req))
		if err == nil {
			err = c.findSeat(ctx, s.api(req))
		}
		if err != nil {
			return nil, err
		}
		shown := []*sdk.Tool{}
		for i, t := range tools { // the list has them in the same order
			if t.shownTo(c) {
				def := *list.Tools[i]
				def.Description = t.describe(c.Session)
				shown = append(shown, &def)
			}
		}
		list.Tools = shown
		return list, nil
	}
}
