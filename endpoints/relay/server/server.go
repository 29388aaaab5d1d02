package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// A Server is one relay. Its methods are safe for concurrent use.
type Server struct {
	cfg        Config
	limits     Limits
	log        *slog.Logger
	access     atomic.Pointer[access]
	failures   failureLimiter // failed logins per client address
	places     places         // of logged-in devices
	halfOpen   *halfOpenPool
	aliases    dailyAliases
	metrics    serverMetrics
	lastNumber atomic.Uint64 // number of the last connection, for the log
	queued     atomic.Int64  // bytes queued for all destinations
	group      *group        // the other relays that are one with this; nil without

	mu      sync.RWMutex
	devices map[frame.ID]*conn

	work    sync.WaitGroup // one goroutine per connection
	closing context.Context
	close   context.CancelFunc
}

// New returns a relay. Errors: ErrNoHost, ErrNoAccess, ErrToken.
func New(cfg Config) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, limits: cfg.Limits.withDefaults(), log: cfg.Log, devices: map[frame.ID]*conn{}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.access.Store(newAccess(cfg.Tokens, cfg.Devices, cfg.Open))
	s.failures, s.places = newFailureLimiter(s.limits), newPlaces(s.limits)
	s.metrics = newServerMetrics(func() int { return len(s.connected()) })
	s.halfOpen = newHalfOpenPool(s.limits, proxies(cfg.TrustedProxies).contain, s.metrics.evicted)
	s.closing, s.close = context.WithCancel(context.Background())
	if cfg.Bus != nil {
		s.group = newGroup(s, cfg.Bus)
	}
	return s, nil
}

// ErrServed is returned by a second call of Serve.
var ErrServed = errors.New("the relay has ended; make a new one")

// Serve accepts endpoints until ctx ends. Then it sends RESTART to all, sends
// queued frames for up to 5 s, and returns nil after all connections and
// goroutines have ended. It returns an error if accepting fails. It closes l.
// Call it once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if s.closing.Err() != nil {
		l.Close()
		return ErrServed
	}
	l = poolListener{l, s.halfOpen}
	if s.cfg.TLS != nil {
		l = tls.NewListener(l, s.tls())
	}
	h := &http.Server{
		Handler:           s,
		ConnContext:       withHalfOpen,
		ReadHeaderTimeout: s.limits.LoginTimeout,
		MaxHeaderBytes:    frame.MaxLogin,
		ErrorLog:          log.New(io.Discard, "", 0), // its lines contain addresses
		TLSNextProto:      map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	h.SetKeepAlivesEnabled(false)
	endGroup := s.group.start()
	defer endGroup()
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
	c.MinVersion = max(c.MinVersion, tls.VersionTLS13) // the exporter of older versions binds less
	c.NextProtos = []string{"http/1.1"}
	return c
}

// shutdownTime limits sending the queues at a shutdown.
const shutdownTime = 5 * time.Second

func (s *Server) shutdown(h *http.Server) {
	s.mu.Lock() // no connection starts or logs in from here on
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

// ServeHTTP upgrades a request for the relay's protocol to a connection. It
// returns at once: the connection runs in a goroutine of the Server.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !websocket.IsWebSocketUpgrade(r):
		w.Header().Set("Upgrade", "websocket")
		http.Error(w, "This is a Folkmoot relay. Endpoints connect with WebSocket.", http.StatusUpgradeRequired)
		return
	case !slices.Contains(websocket.Subprotocols(r), frame.Subprotocol):
		http.Error(w, "The subprotocol is "+frame.Subprotocol, http.StatusBadRequest)
		return
	}
	if !s.begin() {
		http.Error(w, "The relay is shutting down.", http.StatusServiceUnavailable)
		return
	}
	c := &conn{s: s, number: s.lastNumber.Add(1), limitAddress: proxies(s.cfg.TrustedProxies).clientAddress(r), since: time.Now(), binding: exporter(r.TLS), halfOpen: halfOpenOf(r.Context())}
	if c.halfOpen != nil {
		c.halfOpen.setAddress(c.limitAddress)
	}
	hijack := &hijacker{ResponseWriter: w, limits: s.limits, waits: s.metrics.byteWaits}
	ws, err := upgrader.Upgrade(hijack, r, nil)
	if err != nil {
		s.work.Done()
		return // Upgrade has replied
	}
	c.ws, c.netConn = ws, hijack.netConn
	go func() { // releases what net/http holds for the request
		defer s.work.Done()
		c.run()
	}()
}

// begin registers one more connection that a shutdown waits for. It reports
// false if a shutdown is under way.
func (s *Server) begin() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closing.Err() != nil {
		return false
	}
	s.work.Add(1)
	return true
}

// upgrader upgrades all connections. Write buffers are pooled, so that an idle
// connection holds none. Compression is off: the read limit would count
// compressed bytes.
var upgrader = websocket.Upgrader{
	HandshakeTimeout: 5 * time.Second,
	ReadBufferSize:   8 << 10, // a frame of 4 KiB in one read
	WriteBufferSize:  8 << 10,
	WriteBufferPool:  &sync.Pool{},
	Subprotocols:     []string{frame.Subprotocol},
}

// exporter returns the TLS exporter that binds a login to its connection, or
// nil without TLS.
func exporter(state *tls.ConnectionState) []byte {
	if state == nil {
		return nil
	}
	b, err := state.ExportKeyingMaterial(frame.ExporterLabel, nil, frame.ExporterSize)
	if err != nil {
		return []byte{} // no signature matches this: the login fails
	}
	return b
}

// forward queues a well-formed SEND for its destination, or tells the sender
// why not. It takes ownership of b.
func (s *Server) forward(from *conn, b []byte) {
	size := len(b)
	to := frame.Readdress(b, from.id)
	from.senders.expect(to)
	reason, ok := s.deliver(from.id, to, b)
	if !ok && reason == frame.GoneNotHere {
		reason, ok = s.group.send(from.id, to, b)
	}
	if !ok {
		s.notifyGone(from, to, reason)
	}
	if s.cfg.LogPeers && s.log.Enabled(context.Background(), slog.LevelDebug) {
		s.log.Debug("frame", "from", s.aliases.alias(from.id), "to", s.aliases.alias(to), "bytes", size)
	}
}

// deliver queues a RECV for a device that is connected here, or returns why not.
// It takes ownership of b if it returns true.
func (s *Server) deliver(from, to frame.ID, b []byte) (reason frame.GoneReason, ok bool) {
	switch dst := s.device(to); {
	case dst == nil:
		return frame.GoneNotHere, false
	case !dst.senders.admit(from):
		return frame.GoneNotAllowed, false
	case !dst.queue.push(b, s.limits):
		return frame.GoneQueueFull, false
	}
	return 0, true
}

// notifyGone tells an endpoint that a frame was not forwarded.
func (s *Server) notifyGone(from *conn, to frame.ID, reason frame.GoneReason) {
	s.metrics.gone[reason].Inc()
	from.sendNotice(frame.Gone{To: to, Reason: reason})
}

// register makes c the connection of its device and ends an older one, also at
// the other relays of the group. It reports false if the relay is shutting down.
func (s *Server) register(c *conn) bool {
	c.registered = time.Now()
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
	s.group.join(c.id)
	s.log.Info("login", "conn", c.number, "device", s.aliases.alias(c.id))
	return true
}

// unregister removes c. Unless a newer connection has replaced it, devices that
// have sent to this device receive GONE.
func (s *Server) unregister(c *conn) {
	if !s.remove(c) {
		return
	}
	s.group.leave(c.id)
	for _, id := range c.senders.senders() {
		if peer := s.device(id); peer != nil {
			s.notifyGone(peer, c.id, frame.GoneDisconnected)
		} else {
			s.group.notifyGone(id, c.id, frame.GoneDisconnected)
		}
	}
}

// remove makes c no longer the connection of its device. It reports false if it
// was not.
func (s *Server) remove(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.devices[c.id] != c {
		return false
	}
	delete(s.devices, c.id)
	return true
}

// tryFor is how long endpoints should retry after a RESTART.
const tryFor = time.Minute

// jitterMS returns a random delay between a tenth of limit and limit in
// milliseconds, so that endpoints do not reconnect at once.
func jitterMS(limit time.Duration) uint32 {
	return uint32(limit.Milliseconds()/10 + rand.Int64N(limit.Milliseconds()*9/10+1))
}

// SetAccess replaces the tokens and the devices that may log in, as when their
// files have changed. Devices that are connected and may not log in any more are
// disconnected. Errors: ErrNoAccess, ErrToken; then nothing has changed.
func (s *Server) SetAccess(tokens []string, devices []frame.ID) error {
	cfg := s.cfg
	cfg.Tokens, cfg.Devices = tokens, devices
	if err := cfg.check(); err != nil {
		return err
	}
	a := newAccess(tokens, devices, cfg.Open)
	s.access.Store(a)
	for _, c := range s.connected() {
		if !a.admits(c.id, c.token) {
			c.endRevoked()
		}
	}
	return nil
}

// device returns the connection of a device, or nil.
func (s *Server) device(id frame.ID) *conn {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.devices[id]
}

// connected returns all connections that are logged in.
func (s *Server) connected() []*conn {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Collect(maps.Values(s.devices))
}

// Metrics serves the relay's metrics in the Prometheus text format. Serve it on
// a separate, private listener.
func (s *Server) Metrics() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		s.metrics.set.WritePrometheus(w)
	})
}
