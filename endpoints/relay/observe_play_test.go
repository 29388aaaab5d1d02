package relay

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/room"
)

// A play is a room without anybody who runs it: a log, and who waits for it.
type play struct {
	id        string
	observers []room.Observer
	refuse    error // of what is said

	mu     sync.Mutex
	log    []room.Event
	said   map[string]bool
	change chan struct{}
	ended  bool
	over   bool
	read   int // events that watchers took
}

func newPlay(id string, observers ...room.Observer) *play {
	p := &play{id: id, observers: observers, said: map[string]bool{}, change: make(chan struct{})}
	p.add(room.Opened{Spec: room.Spec{Room: id, Objective: "Test.", Secret: "boundary-secret", Dir: "/home/ann"}})
	p.add(room.Joined{Participant: room.Participant{ID: "a", Kind: "local", Endpoint: []byte(`{"command":["endpoint-secret"]}`)}})
	return p
}

func (p *play) ID() string                 { return p.id }
func (p *play) Observers() []room.Observer { return p.observers }

func (p *play) Tail() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(len(p.log))
}

func (p *play) Head(_ context.Context, most int) ([]room.Event, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log[:min(most, len(p.log))], nil
}

// add appends an event and returns its number.
func (p *play) add(b room.Body) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	seq := int64(len(p.log) + 1)
	p.log = append(p.log, room.Event{V: room.FormatVersion, Seq: seq, ID: fmt.Sprint("1.", seq), Actor: room.ActorHost, Epoch: 1, At: time.Unix(1_800_000_000, 0).UTC(), Body: b})
	close(p.change)
	p.change = make(chan struct{})
	return seq
}

// post appends a message.
func (p *play) post(text string, v room.Visibility) int64 {
	return p.add(room.MessagePosted{Message: room.Message{From: "a", To: room.Broadcast, Kind: room.KindUtterance, Visibility: v, Text: text, Summary: "in short"}})
}

// end lets watchers finish.
func (p *play) end(over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended, p.over = true, over
	close(p.change)
	p.change = make(chan struct{})
}

func (p *play) Ending() (room.Phase, string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return room.PhaseCompleted, "the end", true
	}
	return room.PhasePaused, "paused", false
}

func (p *play) Watch(ctx context.Context, after int64, level room.Visibility) iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		for {
			p.mu.Lock()
			var next *room.Event
			if int(after) < len(p.log) {
				next = &p.log[after]
				p.read++
			}
			ended, change := p.ended, p.change
			p.mu.Unlock()
			switch {
			case next != nil:
				after++
				if e, ok := next.VisibleAt(level); ok && !yield(e, nil) {
					return
				}
				continue
			case ended:
				return
			}
			select {
			case <-change:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (p *play) Say(_ context.Context, g Guest, id, text string) error {
	p.mu.Lock()
	again := p.said[id]
	p.said[id] = true
	p.mu.Unlock()
	if p.refuse != nil || again {
		return p.refuse
	}
	p.add(room.MessagePosted{Message: room.Message{From: g.Name, To: room.Broadcast, Kind: room.KindUtterance, Visibility: room.UserVisible, Text: text}})
	return nil
}

// texts are what was said in the log, by whom.
func (p *play) texts() (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.log {
		if m, ok := e.Body.(room.MessagePosted); ok {
			all = append(all, m.Message.From+": "+m.Message.Text)
		}
	}
	return all
}

// A house is a host with a gallery.
type house struct {
	t       testing.TB
	hub     *hub
	id      identity.DeviceID
	gallery *Gallery
	stop    func()
	gate    *Gate

	mu       sync.Mutex
	peers    map[identity.DeviceID]identity.Peer
	observed []Observed
}

func newHouse(t testing.TB) *house {
	t.Helper()
	h := &house{t: t, hub: newHub(), id: newID(t), gate: newGate(t), peers: map[identity.DeviceID]identity.Peer{}}
	h.start()
	return h
}

// start starts the host, anew when it ran before.
func (h *house) start(stages ...Stage) {
	h.t.Helper()
	h.gallery = NewGallery(GalleryConfig{Peer: h.peer, Gate: h.gate, Audit: func(o Observed) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.observed = append(h.observed, o)
		return nil
	}})
	for _, s := range stages {
		h.gallery.Show(s)
	}
	p := NewPost(h.id, h.hub.plug(h.id), nil, nil)
	p.ServeGallery(h.gallery)
	h.stop = run(h.t, p)
}

func (h *house) peer(id identity.DeviceID) (identity.Peer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p, ok := h.peers[id]
	if !ok {
		return p, identity.ErrNoPeer
	}
	return p, nil
}

// pair makes a device a peer; edit may change what it may do.
func (h *house) pair(id identity.DeviceID, name string, grant identity.Grant, edit ...func(*identity.Peer)) {
	p := identity.Peer{ID: id, Name: name, Grant: grant}
	for _, f := range edit {
		f(&p)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.peers[id] = p
}

// A visitor is a device that watches, or tries to.
type visitor struct {
	house   *house
	id      identity.DeviceID
	watcher *Watcher
	seen    []room.Event
	head    []room.Event
	shown   func(Shown) error // nil: keep
	ended   chan error
	stop    func()
	cancel  func() // ends Run
}

func (h *house) visitor(name string, grant identity.Grant, edit ...func(*identity.Peer)) *visitor {
	h.t.Helper()
	v := &visitor{house: h, id: newID(h.t)}
	h.pair(v.id, name, grant, edit...)
	return v
}

// watch starts to watch, after what was seen.
func (v *visitor) watch(cfg WatcherConfig) {
	v.house.t.Helper()
	cfg.Host = v.house.id
	cfg.Show = func(s Shown) error {
		if v.shown != nil {
			if err := v.shown(s); err != nil {
				return err
			}
		}
		v.head = append(v.head, s.Head...)
		v.seen = append(v.seen, s.Events...)
		return nil
	}
	v.watcher = NewWatcher(cfg)
	p := NewPost(v.id, v.house.hub.plug(v.id), nil, nil)
	p.ServeWatcher(v.watcher)
	v.stop = run(v.house.t, p)
	v.ended = make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	v.cancel = cancel
	done := make(chan struct{})
	go func() {
		defer close(done)
		v.ended <- v.watcher.Run(ctx)
	}()
	v.house.t.Cleanup(func() { cancel(); <-done })
}

// tells sends the host something by hand and returns the first answer that it
// gets.
func (v *visitor) tells(e envelope.Envelope) (envelope.Envelope, error) {
	v.house.t.Helper()
	b, err := envelope.Encode(e)
	if err != nil {
		v.house.t.Fatal(err)
	}
	link := v.house.hub.plug(v.id)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := link.Send(ctx, v.house.id, b); err != nil {
		return e, err
	}
	return v.hears(ctx, link)
}

func (v *visitor) hears(ctx context.Context, link *plug) (envelope.Envelope, error) {
	in, err := link.Next(ctx)
	if err != nil {
		return envelope.Envelope{}, err
	}
	return envelope.Decode(deliveredBytes(in))
}
