package spectate

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/wire"
	"github.com/folkmoot/moot/room"
)

// Times of a stream.
const (
	batchEvery   = 25 * time.Millisecond // between two snapshots: events of that time travel together
	emptyAfter   = 20 * time.Second      // until a snapshot without events
	idleTimeout  = 90 * time.Second      // without a request: the client has gone
	recheckEvery = time.Second           // between two looks at the grant
	openTimeout  = 15 * time.Second      // for the room of a process that has just started
)

// Bounds of the events that open a room, which a client gets when it begins
// later.
const maxOpeningSize = 48 << 10

// A subscribeRequest is a decoded subscribe request and its envelope.
type subscribeRequest struct {
	envelope.Envelope
	wire.Subscribe
}

// A stream answers the subscribe requests of one device for one room: one at a
// time, the newest.
type stream struct {
	server   *Server
	device   identity.DeviceID
	key      subscription          // guarded by the server's lock
	requests chan subscribeRequest // holds one
	quit     chan struct{}
	once     sync.Once
	done     chan struct{} // closed when run has ended

	mu   sync.Mutex
	room string // "" until the device was admitted

	// Used by run only.
	prefetch *prefetch
	last     time.Time // of the latest answer
}

func newStream(s *Server, key subscription) *stream {
	return &stream{server: s, device: key.device, key: key, requests: make(chan subscribeRequest, 1), quit: make(chan struct{}), done: make(chan struct{})}
}

// put replaces the request that waits. The caller holds the server's lock, so
// there is only one caller at a time.
func (t *stream) put(q subscribeRequest) {
	select {
	case <-t.requests:
	default:
	}
	t.requests <- q
}

func (t *stream) stop() { t.once.Do(func() { close(t.quit) }) }

// watched returns the room of the stream, or "" before the first answer.
func (t *stream) watched() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.room
}

// run answers until the client stops asking, the room has ended, or ctx ends.
func (t *stream) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer t.closePrefetch()
	idle := time.NewTimer(idleTimeout)
	defer idle.Stop()
	for {
		select {
		case q := <-t.requests:
			for next := &q; next != nil; {
				var more bool
				if next, more = t.answer(ctx, *next); !more {
					return
				}
			}
			idle.Reset(idleTimeout)
		case <-idle.C:
			return
		case <-t.quit:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (t *stream) closePrefetch() {
	if t.prefetch != nil {
		t.prefetch.close()
	}
}

// answer answers one request and reports whether to go on. If a newer request
// arrives meanwhile, it returns that instead.
func (t *stream) answer(ctx context.Context, q subscribeRequest) (newer *subscribeRequest, more bool) {
	if !t.awaitRoom(ctx) || !t.throttle(ctx) {
		return nil, false
	}
	g, ok := t.admitted(ctx, q)
	if !ok {
		return nil, false
	}
	wait := emptyAfter
	if t.watched() == "" { // the first answer comes at once, even without events
		wait = batchEvery
		if !t.enter(g) {
			return nil, false
		}
	}
	var opening []json.RawMessage
	if q.After == nil {
		opening = t.resolve(ctx, g, &q)
	}
	t.follow(ctx, g, *q.After)
	if newer, ok = t.await(ctx, q, wait); newer != nil || !ok {
		return newer, ok
	}
	if _, ok := t.admitted(ctx, q); !ok {
		return nil, false
	}
	return nil, t.send(ctx, g, q, opening)
}

// throttle waits between two answers, so that events travel together and a
// client that asks without end costs little.
func (t *stream) throttle(ctx context.Context) bool {
	ok := sleep(ctx, time.Until(t.last.Add(batchEvery)))
	t.last = time.Now()
	return ok
}

// enter records that a device begins to watch.
func (t *stream) enter(g grant) bool {
	t.mu.Lock()
	t.room = g.room.ID()
	t.mu.Unlock()
	err := t.server.audit(t.device, g.room.ID(), "watched", "")
	if err != nil {
		t.server.cfg.Log.Error("a device may not watch because the audit cannot be written", "error", err)
	}
	return err == nil
}

// awaitRoom waits for the first room of a process that has just started.
func (t *stream) awaitRoom(ctx context.Context) bool {
	timer := time.NewTimer(openTimeout)
	defer timer.Stop()
	select {
	case <-t.server.opened:
	case <-timer.C:
	case <-t.quit:
		return false
	case <-ctx.Done():
		return false
	}
	return true
}

// admitted looks the grant up, and sends an error reply if there is none.
func (t *stream) admitted(ctx context.Context, q subscribeRequest) (grant, bool) {
	g, code := t.server.admit(t.device, q.Room)
	if code == "" && t.watched() != "" && t.watched() != g.room.ID() {
		code = wire.ReplyDenied // another room than the stream's
	}
	if code == "" {
		return g, true
	}
	t.server.refused(t.device, q.Room, code)
	t.deliver(ctx, wire.ReplyTo(q.Envelope, wire.ErrorReply(code)))
	return g, false
}

// resolve sets After of a request for the last events. It returns the events
// that open the room, unless they are among those after After.
func (t *stream) resolve(ctx context.Context, g grant, q *subscribeRequest) (opening []json.RawMessage) {
	after := max(0, g.room.Tail()-int64(q.Last))
	q.After = &after
	if after == 0 {
		return nil
	}
	first, err := g.room.Head(ctx, wire.MaxOpening)
	if err != nil {
		t.server.cfg.Log.Warn("the opening of a room cannot be shown", "error", err)
	}
	size := 0
	for _, e := range first {
		if !opens(e.Body) || e.Seq > after {
			break
		}
		e, ok := PublicEvent(e, g.level)
		b, err := encodeEvent(e)
		if size += len(b); !ok || err != nil || size > maxOpeningSize {
			break
		}
		opening = append(opening, b)
	}
	return opening
}

// opens reports whether an event is one of those that open a room.
func opens(b room.Body) bool {
	switch b.(type) {
	case room.Opened, room.Joined:
		return true
	}
	return false
}

// follow makes the prefetch read the room after an event.
func (t *stream) follow(ctx context.Context, g grant, after int64) {
	if f := t.prefetch; f != nil && f.position() == after && f.grant.level == g.level && !f.failed() {
		return
	}
	t.closePrefetch()
	t.prefetch = newPrefetch(ctx, g, after)
}

// await returns when there are events, the room has ended, or the time is over.
// If a newer request arrives, it returns that.
func (t *stream) await(ctx context.Context, q subscribeRequest, wait time.Duration) (newer *subscribeRequest, ok bool) {
	timer, recheck := time.NewTimer(wait), time.NewTicker(recheckEvery)
	defer timer.Stop()
	defer recheck.Stop()
	for {
		select {
		case <-t.prefetch.ready:
			return nil, true
		case <-timer.C:
			return nil, true
		case <-recheck.C:
			if _, ok := t.admitted(ctx, q); !ok {
				return nil, false
			}
		case n := <-t.requests:
			return &n, true
		case <-t.quit:
			return nil, false
		case <-ctx.Done():
			return nil, false
		}
	}
}

// send sends a snapshot frame and reports whether there will be more to see.
func (t *stream) send(ctx context.Context, g grant, q subscribeRequest, opening []json.RawMessage) bool {
	events, through, ended := t.prefetch.take()
	v := wire.Snapshot{After: *q.After, Through: through, Opening: opening, Events: events}
	if ended {
		phase, reason, over := g.room.Ending()
		v.State, v.Phase, v.Reason = wire.RoomAway, phase, cut(reason, maxReason)
		if over {
			v.State = wire.RoomOver
		}
	}
	t.server.mu.Lock()
	t.server.counts.Answers++
	t.server.counts.Events += len(events)
	t.server.mu.Unlock()
	e := envelope.Envelope{ID: q.ID, Type: envelope.Event, Room: g.room.ID(), Body: wire.Body(v)}
	if !t.deliver(ctx, e) {
		t.closePrefetch()
		t.prefetch = nil // the snapshot may be lost: the next request says where to go on
		return true
	}
	return !ended
}

// maxReason bounds the reason of an ending, in bytes when sent and in runes
// when shown.
const maxReason = 500

// deliver sends an envelope and waits until the device has it, so that at most
// one is on its way to a slow device.
func (t *stream) deliver(ctx context.Context, e envelope.Envelope) bool {
	b, err := envelope.Encode(e)
	if err != nil {
		t.server.cfg.Log.Error("an answer cannot be written", "type", string(e.Type), "error", err)
		return false
	}
	if t.server.limiter.WaitN(ctx, min(len(b), sendBurst)) != nil {
		return false
	}
	if err = t.server.dispatcher.Deliver(ctx, t.device, b); err != nil && ctx.Err() == nil {
		t.server.cfg.Log.Info("a spectator may not have been answered", "device", t.device.Short(), "error", err)
	}
	return err == nil
}

// sleep waits for d and reports false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
