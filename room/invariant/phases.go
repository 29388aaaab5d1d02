package invariant

import (
	"fmt"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/kinds"
)

// phases checks that the phase changes only as the table of endings says, and that
// nothing speaks in a room that has ended for good.
func (c *Checker) phases(e step) string {
	want, ok := c.phaseAfter(e.Body)
	switch {
	case !ok:
		return fmt.Sprintf("%s in a room that is %q, %s", e.Body.Type(), c.was.phase, c.was.ending.Cause)
	case e.s.Phase != want:
		return fmt.Sprintf("after %s the room is %q, not %q", e.Body.Type(), e.s.Phase, want)
	case c.finished() && speaks(e.Body):
		return e.Body.Type() + " after the end of the room"
	}
	return ""
}

// finished reports whether the room has ended for good.
func (c *Checker) finished() bool {
	cause := c.was.ending.Cause
	switch c.was.phase {
	case room.PhaseStopped:
		return cause == room.CausePerson
	case room.PhaseCompleted:
		return cause != room.CauseSettled
	}
	return false
}

// phaseAfter returns the phase after b, and false if b may not follow.
func (c *Checker) phaseAfter(b room.Body) (room.Phase, bool) {
	was := c.was.phase
	switch b := b.(type) {
	case room.Opened:
		return room.PhaseLive, was == room.PhaseUnopened
	case room.Paused:
		return room.PhasePaused, was == room.PhaseLive
	case room.Resumed:
		return room.PhaseLive, was != room.PhaseLive && !c.finished()
	case room.Stopped:
		return room.PhaseStopped, !c.finished() && was != room.PhaseStopped
	case room.Completed:
		return room.PhaseCompleted, !c.finished() && was != room.PhaseStopped
	case room.Errored:
		return room.PhaseError, was == room.PhaseLive || was == room.PhasePaused
	case room.MessagePosted:
		if c.was.phase == room.PhaseCompleted && !c.finished() && c.human(b.Message) {
			return room.PhaseLive, true
		}
	}
	return was, true
}

// human reports whether a person has written m.
func (c *Checker) human(m room.Message) bool {
	return m.From != room.ActorRoom && m.Kind != kinds.CallResult && (!c.seatOf(m.From).driven() || m.By != "")
}

// speaks reports whether an event starts or posts anything.
func speaks(b room.Body) bool {
	switch b.(type) {
	case room.TurnGranted, room.TurnDrafted, room.TurnApproved, room.TurnEdited, room.MessagePosted, room.RoundDeclined, room.BidPosted, room.SeatReady, room.SeatTaken,
		room.ModeChanged, room.PolicyChanged, room.PermissionAsked, room.CallStarted, room.Joined, room.PlanChanged:
		return true
	}
	return false
}
