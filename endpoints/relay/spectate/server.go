package spectate

import (
	"context"
	"log/slog"
	"sync"

	"golang.org/x/time/rate"

	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// A Server lets people on other devices watch the rooms of this one and speak
// in them. It is a relay.Handler. Its methods may be called concurrently.
type Server struct {
	cfg        ServerConfig
	limiter    *rate.Limiter // bytes to all spectators
	dispatcher *relay.Dispatcher
	ctx        context.Context // of all work; set by Begin
	stop       context.CancelFunc

	mu      sync.Mutex
	rooms   map[string]Room
	opened  chan struct{} // closed with the first room
	left    bool          // a room has ended; when none is left, so will the process
	streams map[subscription]*stream
	posting map[identity.DeviceID]int // messages in progress
	counts  Counts
	ended   bool
	wg      sync.WaitGroup
}

// A subscription is what a device watches. The room is as the device asked: ""
// for the only one.
type subscription struct {
	device identity.DeviceID
	room   string
	client string // "" for one of an earlier release
}

// Bounds of a server.
const (
	maxStreams          = 256
	maxStreamsPerDevice = 8
	maxPostingPerDevice = 4
)

// Spectators that catch up must leave room on the connection for the seats of
// the room: a relay gives a device 256 KiB/s by default.
const (
	sendRate  = 96 << 10 // bytes a second
	sendBurst = 256 << 10
)

// NewServer returns a server for one dispatcher.
func NewServer(cfg ServerConfig) *Server {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Audit == nil {
		cfg.Audit = func(AuditEntry) error { return nil }
	}
	return &Server{
		cfg: cfg, limiter: rate.NewLimiter(sendRate, sendBurst), rooms: map[string]Room{}, opened: make(chan struct{}),
		streams: map[subscription]*stream{}, posting: map[identity.DeviceID]int{},
	}
}

// Counts returns the totals so far.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Publish lets spectators watch a room until leave is called. leave waits until
// they have all events, the end of the room included, or ctx ends. Afterwards
// they get no more answers.
func (s *Server) Publish(r Room) (leave func(ctx context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.opened:
	default:
		close(s.opened)
	}
	s.rooms[r.ID()] = r
	return func(ctx context.Context) { s.unpublish(ctx, r.ID()) }
}

// Forget undoes Publish for a room that no device may watch. It does not wait.
func (s *Server) Forget(room string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.rooms, room)
}

func (s *Server) unpublish(ctx context.Context, id string) {
	s.mu.Lock()
	var open []*stream
	for _, t := range s.streams {
		if t.watched() == id {
			open = append(open, t)
		}
	}
	s.mu.Unlock()
	for _, t := range open {
		select {
		case <-t.done: // also when the server ends
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = true
	delete(s.rooms, id)
}

// Begin starts the server and greets the devices that may watch.
func (s *Server) Begin(ctx context.Context, d *relay.Dispatcher) {
	s.mu.Lock()
	s.dispatcher = d
	s.ctx, s.stop = context.WithCancel(ctx)
	s.mu.Unlock()
	if s.cfg.Peers == nil {
		return
	}
	peers, err := s.cfg.Peers()
	if err != nil {
		s.cfg.Log.Warn("spectators are not told that this device is here", "error", err)
	}
	for _, p := range peers {
		if p.Grant == identity.GrantObserver && !p.Suspended() {
			d.Greet(p.ID)
		}
	}
}

// End stops all work and waits for it.
func (s *Server) End() {
	s.mu.Lock()
	s.ended = true
	s.stop()
	s.mu.Unlock()
	s.wg.Wait()
}

// PeerRestarted does nothing: a restarted client asks again.
func (s *Server) PeerRestarted(identity.DeviceID) {}
