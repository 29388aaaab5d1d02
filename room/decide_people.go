package room

import (
	"errors"

	"github.com/folkmoot/moot/policies/policy"
)

// control reports whether actor holds the reins: the host, or a person of
// the room who is on the host's device.
func (s *State) control(actor string) bool {
	if actor == ActorHost {
		return true
	}
	x := s.seat(actor)
	return x != nil && x.Controls()
}

// moderates reports whether actor may mute, suspend, redact and remove.
func (s *State) moderates(actor string) bool {
	x := s.seat(actor)
	return s.control(actor) || x != nil && x.Moderator && x.Standing == Active
}

func (s *State) ended() bool {
	return s.Phase == Halted || s.Phase == Done && s.Ending.Cause != DoneSettled
}

func (s *State) decideRun(c Command) ([]Body, error) {
	if !s.control(c.Actor) {
		return nil, denied(c.Actor, "pause, resume, stop or complete the room")
	}
	if s.ended() {
		return nil, over(s)
	}
	switch do := c.Do.(type) {
	case Pause:
		if s.Phase != Live {
			return nil, nil
		}
		return append(s.interrupt("paused"), Paused{Cause: PauseBy, Code: c.Actor, Reason: orElse(brief(do.Reason), "paused by "+c.Actor)}), nil
	case Resume:
		return s.decideResume()
	case Stop:
		return append(s.abandon("stopped"), Stopped{Cause: StopBy, Name: c.Actor, Reason: orElse(brief(do.Reason), "stopped by "+c.Actor)}), nil
	case Complete:
		return append(s.abandon("completed"), Completed{Cause: DoneBy, Reason: orElse(brief(do.Reason), "completed by "+c.Actor)}), nil
	}
	return nil, nil
}

func (s *State) decideResume() ([]Body, error) {
	switch {
	case s.Phase == Live || s.Phase == Done:
		return nil, nil
	case !s.anybody():
		return nil, invalid("ROOM-NOBODY", "nobody is left who could be given the floor", "restore a seat first, or hand one to a person")
	}
	return []Body{Resumed{}}, nil
}

func orElse(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// decideSay posts a person's message. It is never refused because of what
// the room is doing, unless the room has ended.
func (s *State) decideSay(actor string, do Say, now Now) ([]Body, error) {
	x := s.seat(actor)
	if actor != ActorHost && (x == nil || x.Kind != policy.Human || x.Standing == Removed) {
		return nil, denied(actor, "speak here")
	}
	if x != nil && x.Standing != Active {
		return nil, denied(actor, "speak while "+string(x.Standing))
	}
	if s.ended() {
		return nil, over(s)
	}
	m := Message{
		ID: do.MessageID, From: actor, To: orElse(do.To, Broadcast), Kind: brief(orElse(do.Kind, KindUtterance)),
		Visibility: Visibility(orElse(string(do.Visibility), string(UserVisible))), Text: valid(do.Text), Source: "user",
	}
	if err := errors.Join(tooLong(m.Text), s.addressable(m)); err != nil {
		return nil, err
	}
	turn := 0
	if do.As != "" {
		seat := s.seat(do.As)
		if seat == nil || seat.Owner != actor {
			return nil, denied(actor, "speak for "+do.As+" without having taken over its seat")
		}
		if seat.Standing == Muted || seat.Standing == Removed {
			return nil, denied(actor, "speak for "+do.As+", which is "+string(seat.Standing))
		}
		m.From, m.By = do.As, actor
		if s.Turn != nil && s.Turn.Participant == do.As {
			turn = s.Turn.Number
		}
	}
	if done, err := s.posted(m); done || err != nil {
		return nil, err
	}
	if turn != 0 {
		return s.withLimits(now, MessagePosted{Turn: turn, Message: s.finish(m, turn, now)}), nil
	}
	return []Body{MessagePosted{Message: s.finish(m, 0, now)}}, nil
}

// decideSeat hands seats over. Taking one over cancels what its agent is
// doing.
func (s *State) decideSeat(c Command) ([]Body, error) {
	if !s.control(c.Actor) {
		return nil, denied(c.Actor, "take over or release a seat")
	}
	if s.ended() {
		return nil, over(s)
	}
	switch do := c.Do.(type) {
	case TakeOver:
		x := s.seat(do.Participant)
		if x == nil || !x.Driven() || x.Standing == Removed {
			return nil, invalid("ROOM-UNKNOWN", quote(do.Participant)+" is no agent of this room", "name an agent of the roster")
		}
		if x.Owner != "" && x.Owner != c.Actor {
			return nil, denied(c.Actor, "take over a seat that "+x.Owner+" has")
		}
		if x.Owner == c.Actor {
			return nil, nil
		}
		var bodies []Body
		if s.Turn != nil && s.Turn.Participant == x.ID {
			bodies = append(bodies, TurnInterrupted{Turn: s.Turn.Number, Reason: "taken over by " + c.Actor})
		}
		return append(bodies, SeatTaken{Participant: x.ID, By: c.Actor}), nil
	case Release:
		x := s.seat(do.Participant)
		if x == nil || x.Owner == "" {
			return nil, nil
		}
		var bodies []Body
		if s.Turn != nil && s.Turn.Participant == x.ID {
			bodies = append(bodies, TurnInterrupted{Turn: s.Turn.Number, Reason: "released by " + c.Actor})
		}
		return append(bodies, SeatReleased{Participant: x.ID}), nil
	}
	return nil, nil
}

func (s *State) decideModeration(c Command) ([]Body, error) {
	if !s.moderates(c.Actor) {
		return nil, denied(c.Actor, "moderate")
	}
	switch do := c.Do.(type) {
	case SetStanding:
		return s.decideStanding(do)
	case Redact:
		if do.Target < 1 || do.Target > s.Seq {
			return nil, invalid("ROOM-UNKNOWN", "no event "+itoa(do.Target), "name an event of the log")
		}
		bodies := []Body{Redacted{Target: do.Target, Reason: brief(do.Reason)}}
		for _, seq := range do.Drafts {
			bodies = append(bodies, Redacted{Target: seq, Reason: brief(do.Reason)})
		}
		return bodies, nil
	}
	return nil, nil
}

func (s *State) decideStanding(do SetStanding) ([]Body, error) {
	x := s.seat(do.Participant)
	switch do.Standing {
	case Active, Muted, Suspended, Removed:
	default:
		return nil, invalid("ROOM-STANDING", "no standing "+quote(string(do.Standing)), "use active, muted, suspended or removed")
	}
	if x == nil {
		return nil, invalid("ROOM-UNKNOWN", "no participant "+quote(do.Participant), "name one of the roster")
	}
	if x.Standing == do.Standing {
		return nil, nil
	}
	return s.withSeatChange(nil, x, do.Standing, brief(do.Reason)), nil
}

// withSeatChange adds a change of standing, what it interrupts, and the end
// of a room in which nobody is left.
func (s *State) withSeatChange(bodies []Body, x *Seat, to Standing, reason string) []Body {
	if to != Active && s.Turn != nil && s.Turn.Participant == x.ID && len(bodies) == 0 {
		bodies = append(bodies, TurnInterrupted{Turn: s.Turn.Number, Reason: x.ID + " " + string(to)})
	}
	bodies = append(bodies, SeatChanged{Participant: x.ID, Standing: to, Reason: reason})
	switch {
	case s.Phase != Live || to == Active:
	case !s.anybodyBut(x):
		bodies = append(bodies, Errored{Code: "ROOM-NOBODY", Reason: "nobody is left who could be given the floor: " + x.ID + " is " + string(to) + ", " + reason})
	case to == Suspended && s.Spec.OneToOne: // the note's error: a person decides how the two go on
		bodies = append(bodies, Errored{Code: "ROOM-ONE-TO-ONE", Reason: "one of the two is left: " + x.ID + " is suspended, " + reason})
	}
	return bodies
}

func (s *State) anybody() bool { return s.anybodyBut(nil) }

// anybodyBut reports whether somebody but x could ever be given the floor.
func (s *State) anybodyBut(x *Seat) bool {
	for _, y := range s.Seats {
		if y != x && y.Driven() && y.Standing == Active {
			return true
		}
	}
	return false
}

func (s *State) decidePolicy(actor string, do SetPolicy) ([]Body, error) {
	if !s.control(actor) {
		return nil, denied(actor, "change the policy")
	}
	if s.ended() {
		return nil, over(s)
	}
	return []Body{PolicyChanged(do)}, nil
}

// decideLimits lets only a person raise a limit; lowering one below what is
// used ends the room.
func (s *State) decideLimits(actor string, do SetLimits, now Now) ([]Body, error) {
	if !s.control(actor) {
		return nil, denied(actor, "change the limits")
	}
	l := do.Limits.orDefaults(s.Spec.OneToOne)
	bodies := []Body{LimitsChanged{l}}
	if name, reason := s.Tally.reached(l); name != "" && s.Phase == Live {
		bodies = append(bodies, s.abandon("a limit was lowered")...)
		return append(bodies, Stopped{Cause: StopLimit, Name: name, Reason: "limit " + name + ": " + reason}), nil
	}
	if s.Phase == Halted && (s.Ending.Cause == StopLimit || s.Ending.Cause == StopLoop) {
		if name, _ := s.Tally.reached(l); name == "" && now.Clock < l.MaxDuration {
			return append(bodies, Resumed{}), nil
		}
	}
	return bodies, nil
}
