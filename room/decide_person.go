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

// decideNext gives the floor at a person's word, without the policy.
func (s *State) decideNext(actor string, do Next, now Now) ([]Body, error) {
	if !s.control(actor) {
		return nil, denied(actor, "give the floor")
	}
	if s.ended() {
		return nil, over(s)
	}
	if s.Phase != Live || s.Turn != nil {
		return nil, invalid("ROOM-BUSY", "the floor is not free", "wait for the turn to end, or resume the room")
	}
	x := s.seat(do.Participant)
	if x == nil || !x.Driven() || x.Standing != Active {
		return nil, invalid("ROOM-UNKNOWN", quote(do.Participant)+" cannot be given the floor", "name an active agent of the roster")
	}
	if stop := s.unaffordable(x, do.Grant, now); stop != nil {
		return []Body{*stop}, nil
	}
	return []Body{s.floor(x, policy.Speak(x.ID, "chosen by "+actor), nil, do.Grant)}, nil
}
