package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"log/slog"
	"math/rand/v2"
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
	cfg        Config
	limits     Limits
	log        *slog.Logger
	access     access
	addresses  addressLimiter // what connections and logins each address has left
	aliases    dailyAliases
	metrics    serverMetrics
	lastNumber atomic.Uint64 // of the last connection, for the log
	queued     atomic.Int64  // bytes that wait for all destinations

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
	s.addresses = newAddressLimiter(s.limits)
	s.metrics = newServerMetrics(func() int { return len(s.connected()) })
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
	l = &cappedListener{
		Listener: l, max: s.limits.Connections + spareConnections, maxPerAddress: s.limits.PerAddress + sparePerAddress,
		exempt: proxies(s.cfg.TrustedProxies).contain, perAddress: map[netip.Addr]int{},
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
		c.endRestart()
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
	c := &conn{s: s, number: s.lastNumber.Add(1), limitAddress: proxies(s.cfg.TrustedProxies).clientAddress(r), since: time.Now(), binding: exporter(r.TLS)}
	hijack := &hijacker{ResponseWriter: w, limits: s.limits, waits: s.metrics.byteWaits}
	ws, err := upgrader.Upgrade(hijack, r, nil)
	if err != nil {
		s.work.Done()
		return // it has answered
	}
	c.ws, c.netConn = ws, hijack.netConn
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

// forward puts a well-formed SEND into its destination's queue, or tells the
// sender why not. b is no longer the caller's.
func (s *Server) forward(from *conn, b []byte) {
	size := len(b)
	to := frame.Readdress(b, from.id)
	from.senders.expect(to)
	s.mu.RLock()
	dst := s.devices[to]
	s.mu.RUnlock()
	switch {
	case dst == nil:
		s.notifyGone(from, to, frame.GoneNotHere)
	case !dst.senders.admit(from.id):
		s.notifyGone(from, to, frame.GoneNotAllowed)
	case !dst.queue.push(b, s.limits):
		s.notifyGone(from, to, frame.GoneQueueFull)
	}
	if s.cfg.LogPeers && s.log.Enabled(context.Background(), slog.LevelDebug) {
		s.log.Debug("frame", "from", s.aliases.alias(from.id), "to", s.aliases.alias(to), "bytes", size)
	}
}

// notifyGone tells an endpoint that a frame was not passed on.
func (s *Server) notifyGone(from *conn, to frame.ID, reason frame.GoneReason) {
	s.metrics.gone[reason].Inc()
	from.sendNotice(frame.Gone{To: to, Reason: reason})
}

// register makes c the connection of its device; one that it had before is
// ended. It reports false when the relay is ending.
func (s *Server) register(c *conn) bool {
	s.mu.Lock()
	if s.closing.Err() != nil {
		s.mu.Unlock()
		return false
	}
	old := s.devices[c.id]
	s.devices[c.id] = c
	s.mu.Unlock()
	s.metrics.logins.Inc()
	if old != nil {
		old.endReplaced()
	}
	s.log.Info("login", "conn", c.number, "device", s.aliases.alias(c.id))
	return true
}

// unregister takes c out, and tells whoever has sent to its device that it is
// gone, unless a newer connection has taken its place.
func (s *Server) unregister(c *conn) {
	s.mu.Lock()
	last := s.devices[c.id] == c
	if last {
		delete(s.devices, c.id)
	}
	s.mu.Unlock()
	if !last {
		return
	}
	for _, id := range c.senders.senders() {
		s.mu.RLock()
		peer := s.devices[id]
		s.mu.RUnlock()
		if peer != nil {
			s.notifyGone(peer, c.id, frame.GoneDisconnected)
		}
	}
}

// tryFor is for how long endpoints shall try to come back after a RESTART.
const tryFor = time.Minute

// jitterMS returns a moment between a tenth of limit and limit, in ms, so that
// not all come back at once.
func jitterMS(limit time.Duration) uint32 {
	return uint32(limit.Milliseconds()/10 + rand.Int64N(limit.Milliseconds()*9/10+1))
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

// Metrics serves the relay's counters in the Prometheus text form. It is for
// a listener of its own: what it says is not for the public.
func (s *Server) Metrics() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		s.metrics.set.WritePrometheus(w)
	})
}
