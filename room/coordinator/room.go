package coordinator

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A Room is one room in this process. Make one with [Open] or [Reopen], run
// it with [Room.Run]; its other methods may be called by anybody.
type Room struct {
	cfg    Config
	id     string
	unlock func()

	people      chan request  // commands of people come first
	abandoned   chan request  // pauses and stops whose caller did not wait
	work        chan request  // results of effects
	quit        chan struct{} // closed when Run begins to end
	done        chan struct{} // closed when it has ended
	gate        gate
	hub         hub
	controllers atomic.Pointer[map[string]bool] // who may pause and stop
	mu          sync.Mutex                      // held by the loop while it changes the state, and by View

	idleSince atomic.Pointer[idlePeriod] // nil while something is under way

	// Owned by the loop.
	state         room.State
	logTail       log.Pos
	lastWake      time.Time // when the log was last told to wake the room
	clock         clock
	texts         messageCache
	digester      endpoint.Digester
	policy        Policy
	policyRef     string
	endpoints     map[string]*driver
	snapAt        int64
	redactions    []int64   // events that the folded part of the log says to redact
	hasRedactions bool      // texts are missing from the folded part of the log
	resumedIdle   *idleMark // how the room was left, when it was left at rest
	effects       workerPool
}

// A request is a command on its way to the loop.
type request struct {
	cmd  room.Command
	key  string        // of the effect whose result it is
	out  chan<- answer // nil when nobody waits
	held bool          // the gate is closed until it was handled
}

type answer struct {
	events []room.Event
	err    error
}

// ID returns the room's id.
func (r *Room) ID() string { return r.id }

// View returns what people with control see of the room now.
func (r *Room) View() room.View {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.View(room.Internal)
}

// Do carries out a person's command and returns the events that record it
// once they are durable. The actor must be authenticated by the caller. A
// pause or stop closes the gate before anything else happens; it takes effect
// even when ctx ends before the log has it.
func (r *Room) Do(ctx context.Context, c room.Command) ([]room.Event, error) {
	if c.ID == "" {
		c.ID = "c_" + random()
	}
	out := make(chan answer, 1)
	req := request{cmd: c, out: out}
	switch c.Do.(type) {
	case room.Pause, room.Stop:
		req.held = r.closeGateFor(c.Actor)
	}
	select {
	case r.people <- req:
	case <-r.done:
		return nil, ErrClosed
	case <-ctx.Done():
		r.requeueHeld(req)
		return nil, ctx.Err()
	}
	select {
	case a := <-out:
		return a.events, a.err
	case <-r.done:
		select {
		case a := <-out:
			return a.events, a.err
		default:
			return nil, ErrClosed
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// closeGateFor stops everything that the room sends, at once and without waiting for
// its log, if actor holds the reins. The command that follows says why.
func (r *Room) closeGateFor(actor string) bool {
	if reins := r.controllers.Load(); reins == nil || !(*reins)[actor] {
		return false
	}
	r.gate.close()
	r.hub.tell(Update{Pausing: true})
	return true
}

// requeueHeld takes over a command whose caller has gone. Watchers have been told
// of a pause, so it comes; of many that wait one is as good as all.
func (r *Room) requeueHeld(req request) {
	if !req.held {
		return
	}
	select {
	case r.abandoned <- req:
	default:
		r.gate.open()
	}
}

// now is what the loop knows of time.
func (r *Room) now() room.Now { return room.Now{Wall: time.Now(), Clock: r.clock.now()} }

// Watch yields what happens in the room after the event with that seq, as a
// reader with that level sees it: first what is stored, then what comes,
// without gap or duplicate. It ends with the room's Run or with ctx.
func (r *Room) Watch(ctx context.Context, after int64, level room.Visibility) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		w := r.hub.add()
		defer r.hub.remove(w)
		at := log.At(after)
		for {
			select {
			case <-ctx.Done():
				return
			case u := <-w.live:
				if !yield(u, nil) {
					return
				}
			case <-w.wake:
				tail, ended := r.hub.status()
				more := r.catchUp(ctx, &at, tail, level, yield)
				if !more || ended {
					return
				}
			}
		}
	}
}

// catchUp yields the stored events up to tail and reports whether to go on.
func (r *Room) catchUp(ctx context.Context, at *log.Pos, tail int64, level room.Visibility, yield func(Update, error) bool) bool {
	for int64(at.Seq) < tail {
		entries, err := r.hub.log.Read(ctx, r.hub.room, *at, int(min(page, tail-int64(at.Seq))))
		if err != nil {
			return yield(Update{}, err) && false
		}
		for _, e := range entries {
			*at = e.Pos
			ev, ok := e.Event.VisibleAt(level)
			if ok && !yield(Update{Event: &ev}, nil) {
				return false
			}
		}
		if len(entries) == 0 {
			return true
		}
	}
	return true
}
