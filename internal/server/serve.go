package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/folkmoot/moot/internal/access"
)

// How long a server that ends waits for the requests that run: until it tells them to
// end, and until it closes their connections. Streams of rooms that have ended end by
// themselves, and their readers get the last events.
const (
	restTimeout = 500 * time.Millisecond
	endTimeout  = 2 * time.Second
)

// Serve answers requests on l by handler, one of s, until ctx ends. It then waits for
// the requests that run, but not for long. It closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener, handler http.Handler) error {
	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	web := access.NewHTTPServer(handler)
	web.BaseContext = func(net.Listener) context.Context { return requests }
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
	return nil
}
