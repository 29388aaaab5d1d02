package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/mcp"
)

// registerMCP registers the tools for agents.
func (s *Server) registerMCP() {
	s.tools = mcp.New(mcp.Config{Version: s.cfg.Version})
	h := s.tools.Handler(s.toolUser)
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		s.raw(Read, method, "/mcp", "Tools for agents: the Model Context Protocol over streamable HTTP", h.ServeHTTP)
	}
}

// toolUser returns who uses tools in a request.
func (s *Server) toolUser(r *http.Request) mcp.Client {
	c := CallerOf(r.Context())
	c.Via = "mcp"
	return mcp.Client{
		ID:  fmt.Sprintf("%q %v %q %q", c.Name, c.Scope, c.Room, c.Seat),
		API: client.New(client.Config{URL: "http://localhost", Transport: inProcess{s, c}}),
	}
}

// inProcess carries requests of a caller, whom the server has identified, to the
// routes of the server.
type inProcess struct {
	*Server
	caller Caller
}

// RoundTrip implements [http.RoundTripper].
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.WithContext(context.WithValue(r.Context(), callerKey{}, p.caller))
	if in.Body == nil {
		in.Body = http.NoBody
	}
	w := &recorder{header: http.Header{}}
	p.mux.ServeHTTP(w, in)
	_ = in.Body.Close() // it is in memory
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w.WriteHeader(http.StatusOK)
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// A recorder keeps a response in memory.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter].
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write implements [http.ResponseWriter].
func (w *recorder) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}
