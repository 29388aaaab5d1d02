package invariant

import (
	"fmt"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// Decided checks what a room has decided about a command, before the events are stored:
// events or an error, of which s has changed nothing.
func (c *Checker) Decided(cmd room.Command, s *room.State, events []room.Event, err error) []Broken {
	var is summary
	is.take(s)
	if c.seq > 0 && !is.same(&c.was) {
		c.report("G14", c.seq, fmt.Sprintf("the decision about %T has changed the state", cmd.Do))
	}
	if err != nil && len(events) > 0 {
		c.report("G13", c.seq, fmt.Sprintf("%T is refused and has %d events", cmd.Do, len(events)))
	}
	if _, known := c.commands[cmd.ID]; known && len(events) > 0 && len(c.commands)-c.commands[cmd.ID] < newestIDs {
		c.report("S8", c.seq, "the command "+cmd.ID+" is repeated and has events again")
	}
	for i, e := range events {
		c.report("G13", c.seq, c.envelope(cmd, e, c.seq+int64(i)+1))
	}
	if do, ok := cmd.Do.(room.Decided); ok && err == nil {
		c.report("P2", c.seq, c.chosen(do, s, events))
	}
	return c.done()
}

// envelope says what is wrong with the envelope of an event.
func (c *Checker) envelope(cmd room.Command, e room.Event, seq int64) string {
	switch {
	case e.Seq != seq || e.V != room.FormatVersion:
		return fmt.Sprintf("event %d has the seq %d and the version %d", seq, e.Seq, e.V)
	case e.Command != cmd.ID:
		return "an event of the command " + cmd.ID + " names " + e.Command
	case e.Actor != cmd.Actor && e.Actor != room.ActorRoom:
		return "an event of " + cmd.Actor + " names the actor " + e.Actor
	}
	return ""
}

// chosen says how the events depart from a decision of the policy: its agent gets the
// turn, or the one that was drawn in a room that explores, and none if it may not have
// one.
func (c *Checker) chosen(do room.Decided, s *room.State, events []room.Event) string {
	for _, e := range events {
		b, ok := e.Body.(room.TurnGranted)
		switch {
		case !ok:
		case do.Decision.Action != policy.ActionSpeak:
			return "a turn is granted after the decision " + string(do.Decision.Action)
		case b.Participant != do.Decision.Agent && !(s.Spec.Explore > 0 && b.Exploration != nil):
			return "the policy chose " + do.Decision.Agent + ", and " + b.Participant + " got the turn"
		}
	}
	return ""
}

// Settled checks s when nothing is in progress: all that was due at the clock now is
// done, and the effects fit the phase.
func (c *Checker) Settled(now time.Duration, s *room.State) []Broken {
	if d := c.duty; d.met != nil && s.Phase == room.PhaseLive {
		c.report(d.id, c.seq, d.detail)
		c.duty = duty{}
	}
	if c.restart {
		c.report("S10", c.seq, "the room was restarted and is not paused")
	}
	if at, ok := s.Deadline(); ok && at < now {
		c.report("E2", c.seq, fmt.Sprintf("at %v, what was due at %v is not done", now, at))
	}
	c.report("R3", c.seq, c.overdue(now, s))
	c.report("E1", c.seq, c.effects(s))
	c.report("X9", c.seq, c.cancelled(s))
	return c.done()
}

// overdue says which prompt has waited for longer than its time limit and a second.
func (c *Checker) overdue(now time.Duration, s *room.State) string {
	t := s.Turn
	if !c.inFlight() || t == nil || s.Phase != room.PhaseLive || len(t.Requests) > 0 || t.Calling > 0 || c.seatOf(t.Participant).takenBy != "" {
		return ""
	}
	if until := t.Started + t.Timeout + t.Held + time.Second; now > until {
		return fmt.Sprintf("at %v, turn %d is open, and its limit was %v", now, t.Number, until)
	}
	return ""
}

// effects says which effects do not fit the phase and the open turn.
func (c *Checker) effects(s *room.State) string {
	keys := map[string]bool{}
	for _, f := range s.Effects() {
		if keys[f.Key()] {
			return "the effect " + f.Key() + " is there twice"
		}
		keys[f.Key()] = true
		ok := s.Phase == room.PhaseLive
		switch f := f.(type) {
		case room.Speak:
			ok = ok && c.inFlight() && f.Request == c.turn.Request && c.seatOf(f.Participant).takenBy == ""
		case room.Ask, room.AskBid, room.ServeAgent:
			ok = ok && c.turn == nil
		case room.RunCall:
			ok = c.open[f.Call] != nil && (ok || f.Cancel != "")
		}
		if !ok {
			return fmt.Sprintf("the effect %s of a room that is %q, with a turn open: %t", f.Key(), s.Phase, c.turn != nil)
		}
	}
	return ""
}

// cancelled says which call goes on after its room has ended.
func (c *Checker) cancelled(s *room.State) string {
	switch s.Phase {
	case room.PhaseLive, room.PhasePaused, room.PhaseUnopened:
		return ""
	}
	for id, o := range c.open {
		if o.Canceling == "" {
			return "call " + id + " goes on, and its room is " + string(s.Phase)
		}
	}
	return ""
}
