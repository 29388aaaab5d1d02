package coordinator

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A Room is one room in this process. Make it with [Open] or [Reopen] and run
// it with [Room.Run]. Its other methods are safe for concurrent use.
type Room struct {
	cfg    Config
	id     string
	unlock func()

	people      chan request  // commands of people; they come first
	abandoned   chan request  // pauses and stops whose caller did not wait for the result
	work        chan request  // results of effects
	queued      atomic.Int32  // requests that wait to be sent to people or work
	leave       chan struct{} // gets a token when the room is released
	leaving     atomic.Bool   // the room was released: Run ends between two turns
	quit        chan struct{} // closed when Run begins to end
	done        chan struct{} // closed when it has ended
	gate        gate
	hub         hub
	requests    requests
	controllers atomic.Pointer[map[string]bool] // who may pause and stop
	mu          sync.Mutex                      // held by the loop while it changes the state; see read
	ahead       chan struct{}                   // not nil while the state holds the end of a turn that is not stored yet; closed then

	idleSince atomic.Pointer[idlePeriod] // nil while an effect is running or a session is present

	// Owned by the loop.
	state         room.State
	logTail       log.Pos
	lastWake      time.Time // wake time of the last append
	clock         clock
	texts         messageCache
	granted       grantedPrompt // of the open turn, until it is sent
	policy        Policy
	policyRef     room.PolicyRef
	decided       *request // decision that the loop has made itself and not handled yet, or nil
	taken         *request // command of a person that comes next, or nil
	endpoints     map[string]*driver
	snapAt        int64     // seq of the last snapshot
	redactions    []int64   // targets of the redactions in the log since the snapshot
	hasRedactions bool      // the log since the snapshot lacks redacted texts
	resumedIdle   *idleMark // set when the room was unloaded while idle
	effects       workerPool
	nest          nest            // of its child rooms
	stopping      <-chan struct{} // closed when Run begins to end
	waiting       string          // what Config.Waiting was told last, as its ids
}

// A request is a command on its way to the loop.
type request struct {
	cmd  room.Command
	key  string        // of the effect that it is the result of
	out  chan<- answer // nil when no caller waits
	held bool          // the gate stays closed until the request is handled
}

type answer struct {
	events []room.Event
	err    error
}

// ID returns the room's id.
func (r *Room) ID() string { return r.id }

// load returns how much the room has to do now.
func (r *Room) load() Load {
	r.mu.Lock()
	phase := r.state.Phase
	r.mu.Unlock()
	return Load{Room: r.id, Phase: phase, Watchers: r.hub.count(), Queued: int(r.queued.Load()) + len(r.abandoned), Running: r.gate.busy()}
}

// Spec returns what the room was opened with.
func (r *Room) Spec() room.Spec {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Spec
}

// View returns the room as people with control see it now.
func (r *Room) View() room.View { return r.ViewAt(room.Internal) }

// ViewAt returns the room as a reader with that level sees it now.
func (r *Room) ViewAt(level room.Visibility) (v room.View) {
	r.read(func(s *room.State) { v = s.View(level) })
	return v
}

// Recorded returns the events that record the command with that id, as far as the
// room remembers it: none for another command, and for one that changed nothing.
func (r *Room) Recorded(ctx context.Context, command string) ([]room.Event, error) {
	var last int64
	r.read(func(s *room.State) { last = s.Commands.At[command] })
	var events []room.Event
	for seq := last; seq > 0; seq-- { // they follow one another
		entries, err := r.cfg.Log.Read(ctx, r.id, log.At(seq-1), 1)
		if err != nil {
			return nil, err
		}
		if len(entries) != 1 || entries[0].Event.Command != command {
			break
		}
		events = append(events, entries[0].Event)
	}
	slices.Reverse(events)
	return events, nil
}

// Do executes a person's command and returns the events that record it once
// they are durable. The caller must have authenticated the actor. A pause or
// stop closes the gate first, and takes effect even when ctx ends before the
// log has stored it. It returns [ErrClosed] when the room does not run.
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
	if err := r.enqueue(ctx, req); err != nil {
		return nil, err
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

// enqueue waits until the loop takes the command of a person.
func (r *Room) enqueue(ctx context.Context, req request) error {
	r.queued.Add(1)
	defer r.queued.Add(-1)
	select {
	case r.people <- req:
		return nil
	case <-r.done:
		return ErrClosed
	case <-ctx.Done():
		r.requeueHeld(req)
		return ctx.Err()
	}
}

// closeGateFor stops all effects at once, without waiting for the log, if actor
// is a controller. The command that follows says why.
func (r *Room) closeGateFor(actor string) bool {
	if c := r.controllers.Load(); c == nil || !(*c)[actor] {
		return false
	}
	r.gate.close()
	r.hub.tell(Update{Pausing: true})
	return true
}

// requeueHeld keeps a pause or stop whose caller has gone, because watchers
// have been told of it. When the queue is full, one that waits there has the
// same effect.
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

// now returns the wall time and the room's clock.
func (r *Room) now() room.Now { return room.Now{Wall: time.Now(), Clock: r.clock.now()} }

// Watch yields the events after the one with seq after, first the stored ones
// and then the new ones, without gap or duplicate, as a reader with that level
// sees them. Notices come in between and may be dropped, as may live text, which
// only readers of internal messages get: it may become a draft or an internal
// message. It ends with the room's Run or with ctx.
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
				if u.VisibleAt(level) && !yield(u, nil) {
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
		if recent := r.hub.after(int64(at.Seq)); len(recent) > 0 {
			for _, e := range recent {
				*at = log.At(e.Seq)
				ev, ok := e.VisibleAt(level)
				if ok && !yield(Update{Event: &ev}, nil) {
					return false
				}
			}
			continue
		}
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
