package coordinator

import (
	"time"

	"github.com/folkmoot/moot/room"
)

// A clock is a room's running time: it stands still while the room is not
// live, and does not follow the wall.
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

func (c *clock) run(on bool) {
	if on == c.running {
		return
	}
	c.base = c.now()
	c.since, c.running = time.Now(), on
}

// idlePeriod is when a room fell idle and until when it will be.
type idlePeriod struct{ since, until time.Time }

// isIdle reports whether the room has had nothing to do for so long and will
// not for as long again.
func (r *Room) isIdle(now time.Time, after time.Duration) bool {
	p := r.idleSince.Load()
	return p != nil && !r.hub.watched() && now.Sub(p.since) >= after &&
		(p.until.IsZero() || p.until.Sub(now) >= after)
}

// markIdle notes that the loop is about to wait so long; negative is for ever.
func (r *Room) markIdle(wake time.Duration) {
	if r.gate.busy() > 0 {
		r.idleSince.Store(nil)
		return
	}
	p := &idlePeriod{since: time.Now()}
	if wake >= 0 {
		p.until = p.since.Add(wake)
	}
	r.idleSince.Store(p)
}

// wake is when a room that is unloaded after these events next has something
// to do; never while it waits for a person. What an agent is only reported to
// have done, late or against the rules, leaves it at what it was.
func (r *Room) wake(now room.Now, events []room.Event) time.Time {
	switch b := events[len(events)-1].Body.(type) {
	case room.ReplyLate, room.Violation, room.SeatForgot:
		if len(events) == 1 {
			return r.lastWake
		}
	case room.Paused, room.Stopped, room.Completed, room.Errored, room.TurnDrafted, room.TurnEdited:
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
			return now.Wall // it lives again
		}
	}
	if r.state.Phase != room.PhaseLive && r.state.Phase != room.PhaseUnopened {
		return time.Time{}
	}
	return now.Wall
}

// due is when the first effect of the room is to start.
func (r *Room) due(now room.Now) time.Time {
	var at time.Time
	for _, e := range r.state.Effects() {
		start := now.Wall.Add(max(0, notBefore(e)-now.Clock))
		if at.IsZero() || start.Before(at) {
			at = start
		}
	}
	return at
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

// idleMark says where the clock of a room stood when it was unloaded.
type idleMark struct {
	Clock time.Duration
	Wall  time.Time
}

// clock is the clock of a room that wakes now. It has gone on while the
// room was unloaded, but no further than to what the room waits for: what the
// wall clock says must not end a room.
func (p *idleMark) clock(s *room.State) time.Duration {
	slept := max(0, time.Since(p.Wall))
	for _, e := range s.Effects() {
		if at := notBefore(e); at > p.Clock {
			return min(p.Clock+slept, at)
		}
	}
	return p.Clock
}
