package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// A Server is one relay.
type Server struct {
	cfg    Config
	limits Limits
	log    *slog.Logger
	access access
	shares addresses // what connections and logins each address has left
	names  names
	counts counts
	number atomic.Uint64 // of the last connection, for the log
	queued atomic.Int64  // bytes that wait for all destinations

	mu      sync.RWMutex
	devices map[frame.ID]*conn

	work    sync.WaitGroup // a goroutine a connection
	closing context.Context
	close   context.CancelFunc
}

// New makes a relay. Errors are those about a Config.
func New(cfg Config) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, limits: cfg.Limits.withDefaults(), log: cfg.Log, devices: map[frame.ID]*conn{}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.access = newAccess(cfg)
	s.shares = newAddresses(s.limits)
	s.counts = newCounts(s)
	s.closing, s.close = context.WithCancel(context.Background())
	return s, nil
}

// ErrServed is what Serve returns when it is called twice.
var ErrServed = errors.New("the relay has ended; make a new one")

// Serve accepts endpoints until ctx ends. Then it sends RESTART to all, lets
// what is queued leave for up to 5 s, and returns when every connection and
// goroutine has ended: nil, or why it could not go on accepting. It closes l.
// A Server serves once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if s.closing.Err() != nil {
		l.Close()
		return ErrServed
	}
	// Above what the protocol can refuse politely, connections are not even
	// read from.
	l = &capped{
		Listener: l, all: s.limits.Connections + spareConnections, each: s.limits.PerAddress + sparePerAddress,
		exempt: s.trusted, of: map[netip.Addr]int{},
	}
	if s.cfg.TLS != nil {
		l = tls.NewListener(l, s.tls())
	}
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.limits.LoginTimeout,
		MaxHeaderBytes:    frame.MaxLogin,
		ErrorLog:          log.New(io.Discard, "", 0), // its lines hold addresses
		TLSNextProto:      map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	h.SetKeepAlivesEnabled(false)
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	s.shutdown(h)
	if err == nil {
		<-failed // it has returned because h is closed
	}
	return err
}

func (s *Server) tls() *tls.Config {
	c := s.cfg.TLS.Clone()
	c.MinVersion = max(c.MinVersion, tls.VersionTLS13) // the exporter of older ones binds less
	c.NextProtos = []string{"http/1.1"}
	return c
}

// shutdownTime is how long what is queued may take to leave.
const shutdownTime = 5 * time.Second

func (s *Server) shutdown(h *http.Server) {
	s.mu.Lock() // nobody begins or logs in any more
	s.close()
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	for _, c := range s.connected() {
		c.restart()
	}
	if h.Shutdown(ctx) != nil {
		h.Close()
	}
	done := make(chan struct{})
	go func() { s.work.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		for _, c := range s.connected() {
			c.ws.Close()
		}
		<-done
	}
}

// connected returns all that have logged in.
func (s *Server) connected() []*conn {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]*conn, 0, len(s.devices))
	for _, c := range s.devices {
		all = append(all, c)
	}
	return all
}

// ServeHTTP makes a request that asks for the relay's protocol a connection.
// It returns at once: the connection lives on in a goroutine of the Server.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !websocket.IsWebSocketUpgrade(r):
		w.Header().Set("Upgrade", "websocket")
		http.Error(w, "A Folkmoot relay. Endpoints connect to it with WebSocket.", http.StatusUpgradeRequired)
		return
	case !slices.Contains(websocket.Subprotocols(r), frame.Subprotocol):
		http.Error(w, "The subprotocol is "+frame.Subprotocol, http.StatusBadRequest)
		return
	}
	if !s.begin() {
		http.Error(w, "The relay ends.", http.StatusServiceUnavailable)
		return
	}
	c := &conn{s: s, number: s.number.Add(1), address: s.address(r), since: time.Now(), binding: exporter(r.TLS)}
	hijack := &hijacker{ResponseWriter: w, s: s}
	ws, err := upgrader.Upgrade(hijack, r, nil)
	if err != nil {
		s.work.Done()
		return // it has answered
	}
	c.ws, c.meter = ws, hijack.meter
	go func() { // so that what net/http holds for the request is let go
		defer s.work.Done()
		c.run()
	}()
}

// begin makes the shutdown wait for one more connection, unless it is under
// way already.
func (s *Server) begin() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closing.Err() != nil {
		return false
	}
	s.work.Add(1)
	return true
}

// upgrader is for all connections. Buffers for writing are shared, so that an
// idle connection holds none. Compression stays off: the read limit would
// count compressed bytes.
var upgrader = websocket.Upgrader{
	HandshakeTimeout: 5 * time.Second,
	ReadBufferSize:   8 << 10, // a frame of 4 KiB in one read
	WriteBufferSize:  8 << 10,
	WriteBufferPool:  &sync.Pool{},
	Subprotocols:     []string{frame.Subprotocol},
}

// exporter returns the bytes that bind a login to its TLS connection, nil
// without one.
func exporter(state *tls.ConnectionState) []byte {
	if state == nil {
		return nil
	}
	b, err := state.ExportKeyingMaterial(frame.ExporterLabel, nil, frame.ExporterSize)
	if err != nil {
		return []byte{} // nothing signs this: the login fails
	}
	return b
}
