package relay

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/room"
)

// Times of a stream.
const (
	sceneEvery  = 25 * time.Millisecond // between two answers: what comes meanwhile goes together
	sceneQuiet  = 20 * time.Second      // until who watches is told that there is nothing
	streamIdle  = 90 * time.Second      // without a wish: who watches has gone
	admitsEvery = time.Second           // until one that may not watch any more is let go
)

// An ask is a wish and its envelope.
type ask struct {
	envelope.Envelope
	wish
}

// A stream answers what one device wants to see of a room: one wish at a time,
// the newest.
type stream struct {
	g    *Gallery
	of   identity.DeviceID
	at   place    // the gallery's lock guards it
	asks chan ask // holds one
	quit chan struct{}
	once sync.Once
	done chan struct{} // closed when it has ended

	mu   sync.Mutex
	room string // "" until it was admitted

	// Of the goroutine of run.
	feed *feed
	last time.Time // when it began to answer
}

func newStream(g *Gallery, at place) *stream {
	return &stream{g: g, of: at.device, at: at, asks: make(chan ask, 1), quit: make(chan struct{}), done: make(chan struct{})}
}

// put takes a wish in the place of the one that waits. The caller holds the
// gallery's lock, so there is only one.
func (s *stream) put(a ask) {
	select {
	case <-s.asks:
	default:
	}
	s.asks <- a
}

func (s *stream) stop() { s.once.Do(func() { close(s.quit) }) }

// shows is the room that is watched, "" before the first answer.
func (s *stream) shows() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.room
}

// run answers until nobody asks, or there is nothing more to see.
func (s *stream) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.close()
	idle := time.NewTimer(streamIdle)
	defer idle.Stop()
	for {
		select {
		case a := <-s.asks:
			for next := &a; next != nil; {
				var more bool
				if next, more = s.answer(ctx, *next); !more {
					return
				}
			}
			idle.Reset(streamIdle)
		case <-idle.C:
			return
		case <-s.quit:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (s *stream) close() {
	if s.feed != nil {
		s.feed.close()
	}
}

// answer answers one wish and reports whether to go on. It returns the newer
// one that came meanwhile instead.
func (s *stream) answer(ctx context.Context, a ask) (newer *ask, more bool) {
	if !s.isOpen(ctx) || !s.rest(ctx) {
		return nil, false
	}
	p, ok := s.admitted(ctx, a)
	if !ok {
		return nil, false
	}
	quiet := sceneQuiet
	if s.shows() == "" { // who comes in is told so, also when there is nothing to see
		quiet = sceneEvery
		if !s.enter(p) {
			return nil, false
		}
	}
	var head []json.RawMessage
	if a.After == nil {
		head = s.begin(ctx, p, &a)
	}
	s.follow(ctx, p, *a.After)
	if newer, ok = s.await(ctx, a, quiet); newer != nil || !ok {
		return newer, ok
	}
	if _, ok := s.admitted(ctx, a); !ok {
		return nil, false
	}
	return nil, s.send(ctx, p, a, head)
}

// rest keeps a while between two answers: what comes meanwhile goes together,
// and who asks without end is not served without end.
func (s *stream) rest(ctx context.Context) bool {
	ok := pause(ctx, time.Until(s.last.Add(sceneEvery)))
	s.last = time.Now()
	return ok
}

// enter notes who begins to watch.
func (s *stream) enter(p pass) bool {
	s.mu.Lock()
	s.room = p.stage.ID()
	s.mu.Unlock()
	err := s.g.audit(s.of, p.stage.ID(), "watched", "")
	if err != nil {
		s.g.cfg.Log.Error("nobody watches, for it could not be written down", "error", err)
	}
	return err == nil
}

// isOpen waits for the room of a process that has just started.
func (s *stream) isOpen(ctx context.Context) bool {
	t := time.NewTimer(openTime)
	defer t.Stop()
	select {
	case <-s.g.opened:
	case <-t.C:
	case <-s.quit:
		return false
	case <-ctx.Done():
		return false
	}
	return true
}

// admitted looks up whether the device may watch, and tells it when it may
// not.
func (s *stream) admitted(ctx context.Context, a ask) (pass, bool) {
	p, code := s.g.admit(s.of, a.Room)
	if code == "" && s.shows() != "" && s.shows() != p.stage.ID() {
		code = verdictDenied // another room than the one that it watched
	}
	if code == "" {
		return p, true
	}
	s.g.refused(s.of, a.Room, code)
	s.deliver(ctx, refusal(a.Envelope, verdict{Status: statusError, Code: code}))
	return p, false
}

// begin turns a wish for the last of the past into one for what comes after an
// event, and returns what opens the room, unless it will be among that.
func (s *stream) begin(ctx context.Context, p pass, a *ask) (head []json.RawMessage) {
	after := max(0, p.stage.Tail()-int64(a.Last))
	a.After = &after
	if after == 0 {
		return nil
	}
	first, err := p.stage.Head(ctx, maxHead)
	if err != nil {
		s.g.cfg.Log.Warn("the opening of a room cannot be shown", "error", err)
	}
	size := 0
	for _, e := range first {
		if !opening(e.Body) || e.Seq > after {
			break
		}
		e, ok := outward(e, p.level)
		b, err := written(e)
		if size += len(b); !ok || err != nil || size > maxHeadSize {
			break
		}
		head = append(head, b)
	}
	return head
}

// opening reports whether an event is one of those that open a room.
func opening(b room.Body) bool {
	switch b.(type) {
	case room.Opened, room.Joined:
		return true
	}
	return false
}

// follow reads the room from an event on, unless that is being done.
func (s *stream) follow(ctx context.Context, p pass, after int64) {
	if f := s.feed; f != nil && f.at() == after && f.pass.level == p.level && !f.broken() {
		return
	}
	s.close()
	s.feed = newFeed(ctx, p, after)
}

// await returns when there is something to answer a wish with: events, the
// end, or time. It returns a newer wish, which takes the place of this one.
func (s *stream) await(ctx context.Context, a ask, most time.Duration) (newer *ask, ok bool) {
	quiet, look := time.NewTimer(most), time.NewTicker(admitsEvery)
	defer quiet.Stop()
	defer look.Stop()
	for {
		select {
		case <-s.feed.ready:
			return nil, true
		case <-quiet.C:
			return nil, true
		case <-look.C:
			if _, ok := s.admitted(ctx, a); !ok {
				return nil, false
			}
		case b := <-s.asks:
			return &b, true
		case <-s.quit:
			return nil, false
		case <-ctx.Done():
			return nil, false
		}
	}
}

// send answers, and reports whether there will be more to see.
func (s *stream) send(ctx context.Context, p pass, a ask, head []json.RawMessage) bool {
	events, through, ended := s.feed.take()
	v := scene{After: *a.After, Through: through, Head: head, Events: events}
	if ended {
		phase, reason, over := p.stage.Ending()
		v.State, v.Phase, v.Reason = sceneAway, phase, cutAt(reason, maxReason)
		if over {
			v.State = sceneOver
		}
	}
	s.g.mu.Lock()
	s.g.counts.Answers++
	s.g.counts.Events += len(events)
	s.g.mu.Unlock()
	e := envelope.Envelope{ID: a.ID, Type: envelope.Event, Room: p.stage.ID(), Body: body(v)}
	if !s.deliver(ctx, e) {
		s.close()
		s.feed = nil // it may not have come: the next wish says from where
		return true
	}
	return !ended
}

// deliver sends, and waits until the device has it: nothing more is on the way
// to one that does not take it.
func (s *stream) deliver(ctx context.Context, e envelope.Envelope) bool {
	b, err := envelope.Encode(e)
	if err != nil {
		s.g.cfg.Log.Error("an answer cannot be written", "type", string(e.Type), "error", err)
		return false
	}
	if s.g.pace.WaitN(ctx, min(len(b), galleryBurst)) != nil {
		return false
	}
	if err = s.g.post.link.Send(ctx, s.of, b); err != nil && ctx.Err() == nil {
		s.g.cfg.Log.Info("somebody who watches may not have been answered", "device", s.of.Short(), "error", err)
	}
	return err == nil
}
