package relay

import (
	"context"
	"iter"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/room"
)

// A Stage is a room that people on other devices may watch.
type Stage interface {
	// ID is the room's.
	ID() string
	// Observers are the devices that the room lists.
	Observers() []room.Observer
	// Tail is the number of the last event that is stored.
	Tail() int64
	// Head are the first events that are stored, at most so many.
	Head(ctx context.Context, most int) ([]room.Event, error)
	// Watch yields what a reader with that level sees after an event: what is
	// stored, then what comes, until the room does not run any more or ctx ends.
	Watch(ctx context.Context, after int64, level room.Visibility) iter.Seq2[room.Event, error]
	// Say posts what a guest says; the same id again posts nothing. Errors wrap
	// room.ErrOver and room.ErrDenied.
	Say(ctx context.Context, g Guest, id, text string) error
	// Ending says how the room stands once Watch has ended by itself. Over is
	// false when its host may go on with it another time.
	Ending() (phase room.Phase, reason string, over bool)
}

// A Guest is somebody who watches: the device, and what its owner is called
// here.
type Guest struct {
	Device identity.DeviceID
	Name   string
}

// A GalleryConfig says who may watch what. Peer and Gate are required.
type GalleryConfig struct {
	// Peer looks a device up in the store, as it is now: its grant is what
	// counts.
	Peer func(identity.DeviceID) (identity.Peer, error)
	// Peers lists all: those that may watch are told that this device is here.
	// May be nil.
	Peers func() ([]identity.Peer, error)
	Gate  *Gate
	// Audit is told of who began to watch, spoke or was refused. An error
	// refuses. May be nil.
	Audit func(Observed) error
	Log   *slog.Logger
}

// Observed is one thing that somebody who watches did. It holds nothing that
// was said.
type Observed struct {
	Time   time.Time
	Device identity.DeviceID
	Room   string
	Status string // watched, said, or refused
	Reason string // a code
}

// A Gallery lets people on other devices watch the rooms of this one, and say
// something. Nothing is for anybody unless the device has the grant observer,
// and the room: the invite's, or one that lists the device. That is looked up
// each time, so who is removed sees nothing more.
//
// It keeps nothing for those who watch: each asks for what came after the last
// event that it has, and is answered from the log. Who does not ask, because
// it is slow or frozen, is sent nothing, and catches up.
type Gallery struct {
	cfg  GalleryConfig
	pace *rate.Limiter // of bytes to all who watch
	post *Post
	ctx  context.Context // of everything that runs; set by begin
	stop context.CancelFunc

	mu      sync.Mutex
	stages  map[string]Stage
	opened  chan struct{} // closed with the first stage
	left    bool          // a stage has ended: where none is left the process is about to
	streams map[place]*stream
	talking map[identity.DeviceID]int
	counts  GalleryCounts
	ended   bool
	wg      sync.WaitGroup
}

// GalleryCounts counts since the start.
type GalleryCounts struct {
	Answers, Events  int // sent to those who watch
	Said             int // messages that were posted
	Refused, Limited int
}

// A place is what a device watches; room is as it asked, "" for the only one.
type place struct {
	device identity.DeviceID
	room   string
}

// Bounds of a gallery.
const (
	maxStreams      = 256
	maxStreamsOfOne = 8
	maxTalking      = 4                // messages of one device that wait
	openTime        = 15 * time.Second // until the room of a process that starts is there
)

// Who catches up must not take the connection from the seats of the room: a
// relay gives a device 256 KiB/s by default.
const (
	galleryRate  = 96 << 10 // bytes a second
	galleryBurst = 256 << 10
)

// NewGallery returns a gallery for one Post.
func NewGallery(cfg GalleryConfig) *Gallery {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Gallery{
		cfg: cfg, pace: rate.NewLimiter(galleryRate, galleryBurst), stages: map[string]Stage{}, opened: make(chan struct{}), streams: map[place]*stream{}, talking: map[identity.DeviceID]int{},
	}
}

// Counts returns what has happened so far.
func (g *Gallery) Counts() GalleryCounts {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.counts
}

// Show lets a room be watched until leave is called. That waits until those
// who watch have everything, how the room ended too, or ctx ends; afterwards
// nobody is answered any more.
func (g *Gallery) Show(s Stage) (leave func(ctx context.Context)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.stages) == 0 && !g.left {
		close(g.opened)
	}
	g.stages[s.ID()] = s
	return func(ctx context.Context) { g.leave(ctx, s.ID()) }
}

func (g *Gallery) leave(ctx context.Context, id string) {
	g.mu.Lock()
	var last []*stream
	for _, s := range g.streams {
		if s.shows() == id {
			last = append(last, s)
		}
	}
	g.mu.Unlock()
	for _, s := range last {
		select {
		case <-s.done: // with the gallery's own context too
		case <-ctx.Done():
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left = true
	delete(g.stages, id)
}

// begin is called by the Post that runs.
func (g *Gallery) begin(ctx context.Context, p *Post) {
	g.mu.Lock()
	g.post = p
	g.ctx, g.stop = context.WithCancel(ctx)
	g.mu.Unlock()
	if g.cfg.Peers == nil {
		return
	}
	all, err := g.cfg.Peers()
	if err != nil {
		g.cfg.Log.Warn("nobody who watches is told that this device is here", "error", err)
	}
	for _, q := range all {
		if q.Grant == identity.GrantObserver && !q.Suspended() {
			p.greet(q.ID)
		}
	}
}

// end stops everything and waits for it.
func (g *Gallery) end() {
	g.mu.Lock()
	g.ended = true
	g.stop()
	g.mu.Unlock()
	g.wg.Wait()
}

// met is for who asks.
func (g *Gallery) met(identity.DeviceID) {}

// take handles what a device sent, unless it is none of what those who watch
// send.
func (g *Gallery) take(from identity.DeviceID, e envelope.Envelope) bool {
	switch e.Type {
	case envelope.Watch:
		g.watch(from, e)
	case envelope.Message:
		return g.heard(from, e)
	case envelope.Bye:
		g.bye(from, e)
	default:
		return false
	}
	return true
}

// watch hands a wish to the stream that it belongs to.
func (g *Gallery) watch(from identity.DeviceID, e envelope.Envelope) {
	var w wish
	err := e.DecodeBody(&w)
	if err == nil {
		err = w.check()
	}
	if err != nil {
		g.post.violation(from, "", "bad_frame", err.Error())
		return
	}
	at := place{from, e.Room}
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.streamAt(at)
	switch {
	case g.ended || s == nil && g.left && len(g.stages) == 0:
		return
	case s == nil && (len(g.streams) >= maxStreams || g.streamsOf(from) >= maxStreamsOfOne):
		g.counts.Limited++
		g.post.send(from, refusal(e, verdict{Status: statusError, Code: verdictLimit}))
		return
	case s == nil:
		s = newStream(g, at)
		g.streams[at] = s
		g.wg.Go(func() {
			defer g.drop(s)
			s.run(g.ctx)
		})
	}
	s.put(ask{e, w})
}

// streamAt returns the stream of a place; who asked for the only room and now
// names it goes on with the one that it has.
func (g *Gallery) streamAt(at place) *stream {
	if s := g.streams[at]; s != nil || at.room == "" {
		return s
	}
	s := g.streams[place{device: at.device}]
	if s == nil || s.shows() != at.room {
		return nil
	}
	delete(g.streams, s.at)
	s.at, g.streams[at] = at, s
	return s
}

func (g *Gallery) streamsOf(d identity.DeviceID) (n int) {
	for at := range g.streams {
		if at.device == d {
			n++
		}
	}
	return n
}

func (g *Gallery) drop(s *stream) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.streams, s.at)
	close(s.done)
}

func (g *Gallery) bye(from identity.DeviceID, e envelope.Envelope) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.streamAt(place{from, e.Room}); s != nil {
		s.stop()
	}
}
