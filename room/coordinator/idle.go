package coordinator

import (
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
)

// A clock measures a room's running time. It stops while the room is not live
// and is independent of the wall clock.
type clock struct {
	base    time.Duration
	since   time.Time
	running bool
}

func (c *clock) now() time.Duration {
	if !c.running {
		return c.base
	}
	return c.base + time.Since(c.since)
}

// run starts or stops the clock.
func (c *clock) run(on bool) {
	if on == c.running {
		return
	}
	c.base = c.now()
	c.since, c.running = time.Now(), on
}

// An idlePeriod says since when a room is idle and until when it will be; the
// zero until means until a command arrives.
type idlePeriod struct{ since, until time.Time }

// isIdle reports whether the room has been idle for the time after, will be
// for as long again, and has no watchers.
func (r *Room) isIdle(now time.Time, after time.Duration) bool {
	p := r.idleSince.Load()
	return p != nil && !r.hub.watched() && now.Sub(p.since) >= after &&
		(p.until.IsZero() || p.until.Sub(now) >= after)
}

// markIdle records that the loop is about to wait; a negative wake means
// forever.
func (r *Room) markIdle(wake time.Duration) {
	if r.gate.busy() > 0 || r.state.AnyPresent() {
		r.idleSince.Store(nil)
		return
	}
	p := &idlePeriod{since: time.Now()}
	if wake >= 0 {
		p.until = p.since.Add(wake)
	}
	r.idleSince.Store(p)
}

// wake returns the wall time at which the room next has something to do after
// these events, or the zero time when it waits for a person. The log stores it
// with the events, so that it is computed before they are applied. Reports about
// an agent (a late reply, a violation, a lost memory, a session that leaves) do not
// change it.
func (r *Room) wake(now room.Now, events []room.Event) time.Time {
	switch b := events[len(events)-1].Body.(type) {
	case room.ReplyLate, room.Violation, room.SeatForgot:
		if len(events) == 1 {
			return r.lastWake
		}
	case room.PresenceChanged:
		x, _ := r.state.Seat(b.Participant)
		switch {
		case b.Presence == room.Away && !r.state.AnyoneHere(x.ID):
			return time.Time{} // it rests until a session comes
		case len(events) == 1 && (b.Presence == room.Away || x.Presence != room.Away):
			return r.lastWake
		}
	case room.BudgetChanged:
		return r.wakeOfBudget(now, events)
	case room.SeatReady, room.SeatFailed:
		if r.state.AttendedTurn() {
			return r.unanswered(now)
		}
	case room.TurnDrafted, room.TurnEdited:
		if d := r.state.Limits.DraftTimeout; d > 0 {
			return now.Wall.Add(d)
		}
		return time.Time{}
	case room.Paused, room.Stopped, room.Completed, room.Errored:
		return time.Time{}
	case room.RoundDeclined:
		return now.Wall.Add(b.Retry)
	case room.TurnGranted:
		if x, _ := r.state.Seat(b.Participant); x.TakenBy != "" {
			return time.Time{}
		}
	case room.Claimed:
		return r.due(now)
	case room.Resumed:
		return now.Wall
	case room.MessagePosted:
		if r.state.Phase == room.PhaseCompleted {
			return now.Wall // the message reopens the room
		}
	}
	if r.state.Phase != room.PhaseLive && r.state.Phase != room.PhaseUnopened {
		return time.Time{}
	}
	return now.Wall
}

// due returns the wall time at which the first effect of the state starts.
func (r *Room) due(now room.Now) time.Time {
	var at time.Time
	if r.state.CallsOpen() && r.state.Phase == room.PhaseLive || r.cancelsCalls() {
		return now.Wall
	}
	if r.state.AttendedTurn() {
		return r.unanswered(now) // agents that start meanwhile are no reason to load the room
	}
	for _, e := range r.state.Effects() {
		start := now.Wall.Add(max(0, notBefore(e)-now.Clock))
		if at.IsZero() || start.Before(at) {
			at = start
		}
	}
	return at
}

// unanswered returns the wall time at which the draft that waits ends for want of an
// answer, or the zero time.
func (r *Room) unanswered(now room.Now) time.Time {
	if at, ok := r.state.DraftDeadline(); ok {
		return now.Wall.Add(max(0, at-now.Clock))
	}
	return time.Time{}
}

// notBefore is the room clock before which an effect does not start.
func notBefore(e room.Effect) time.Duration {
	switch e := e.(type) {
	case room.Ask:
		return e.NotBefore
	case room.AskBid:
		return e.NotBefore
	}
	return 0
}

// An idleMark says where the room's clock stood when the room was unloaded
// while idle.
type idleMark struct {
	Clock time.Duration
	Wall  time.Time
}

// clock returns the room's clock at a wake-up now. The time while the room was
// unloaded counts up to the next effect at most, so that a wrong wall clock
// cannot make a limit end the room.
func (p *idleMark) clock(s *room.State) time.Duration {
	slept := max(0, time.Since(p.Wall))
	if at, ok := s.DraftDeadline(); ok {
		return min(p.Clock+slept, max(at, p.Clock))
	}
	for _, e := range s.Effects() {
		if at := notBefore(e); at > p.Clock {
			return min(p.Clock+slept, at)
		}
	}
	return p.Clock
}

// called reports whether the room is that of a call.
func (r *Room) called() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Spec.Call != nil
}

// Leaving reports whether the room was released, or is about to be.
func (r *Room) Leaving() bool { return r.leaving.Load() }

// mayLeave reports whether Run ends now because the room was released.
func (r *Room) mayLeave() bool { return r.leaving.Load() && r.state.MayMove() }

// cause is why the effects of a room that ends are cancelled.
func (r *Room) cause() error {
	if r.leaving.Load() {
		return endpoint.ErrMoved
	}
	return nil
}

// claim returns the command by which this process takes the room over.
func (r *Room) claim() room.Claim {
	return room.Claim{Owner: r.cfg.Owner, Restart: r.state.Phase == room.PhaseLive && r.resumedIdle == nil}
}
