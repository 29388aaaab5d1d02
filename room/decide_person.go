package room

import (
	"cmp"
	"errors"

	"github.com/folkmoot/moot/policies/policy"
)

// control reports whether actor is the host or a person of the room on the
// host's device.
func (s *State) control(actor string) bool {
	if actor == ActorHost {
		return true
	}
	x := s.seat(actor)
	return x != nil && x.Controls()
}

// checkControl refuses an actor without control, and a room that has ended.
func (s *State) checkControl(actor, what string) error {
	switch {
	case !s.control(actor):
		return deniedError(actor, what)
	case s.ended():
		return endedError(s)
	}
	return nil
}

// moderates reports whether actor may mute, suspend, redact and remove.
func (s *State) moderates(actor string) bool {
	x := s.seat(actor)
	return s.control(actor) || x != nil && x.Moderator && x.Standing == Active
}

func (s *State) ended() bool {
	return s.Phase == PhaseStopped || s.Phase == PhaseCompleted && s.Ending.Cause != CauseSettled
}

func (s *State) decideRun(c Command) ([]Body, error) {
	if err := s.checkControl(c.Actor, "pause, resume, stop or complete the room"); err != nil {
		return nil, err
	}
	switch do := c.Do.(type) {
	case Pause:
		if s.Phase != PhaseLive {
			return nil, nil
		}
		return append(s.interrupt("paused"), Paused{Cause: CausePerson, Code: c.Actor, Reason: cmp.Or(cleanReason(do.Reason), "paused by "+c.Actor)}), nil
	case Resume:
		return s.decideResume()
	case Stop:
		return append(s.abandon("stopped"), Stopped{Cause: CausePerson, Name: c.Actor, Reason: cmp.Or(cleanReason(do.Reason), "stopped by "+c.Actor)}), nil
	case Complete:
		return append(s.abandon("completed"), Completed{Cause: CausePerson, Reason: cmp.Or(cleanReason(do.Reason), "completed by "+c.Actor)}), nil
	}
	return nil, nil
}

func (s *State) decideResume() ([]Body, error) {
	switch {
	case s.Phase == PhaseLive || s.Phase == PhaseCompleted && !s.Ending.Degraded:
		return nil, nil
	case !s.anyoneLeft():
		return nil, invalidError("ROOM-NOBODY", "no seat can speak", "restore a seat first, or hand one to a person")
	}
	return []Body{Resumed{}}, nil
}

// decideSay posts a person's message. The room accepts it in every phase unless
// it has ended for good.
func (s *State) decideSay(actor string, do Say, now Now) ([]Body, error) {
	x := s.seat(actor)
	if x != nil && x.Session && do.As == "" { // what it says between its turns
		return s.decidePosted(actor, Posted{Message{ID: do.MessageID, To: do.To, Kind: do.Kind, Visibility: do.Visibility, Text: do.Text}}, now)
	}
	if actor != ActorHost && (x == nil || x.Kind != policy.Human || x.Standing == Removed) {
		return nil, deniedError(actor, "speak here")
	}
	if x != nil && x.Standing != Active {
		return nil, deniedError(actor, "speak while "+string(x.Standing))
	}
	if s.ended() {
		return nil, endedError(s)
	}
	m := Message{
		ID: do.MessageID, From: actor, To: cmp.Or(do.To, Broadcast), Kind: cleanReason(cmp.Or(do.Kind, KindUtterance)),
		Visibility: Visibility(cmp.Or(string(do.Visibility), string(UserVisible))), Text: validUTF8(do.Text), Source: cmp.Or(do.Source, SourceUser), FromSession: do.FromSession,
		Applet: cleanReason(do.Applet),
	}
	if err := errors.Join(checkLength(m.Text), s.checkAddress(m), m.checkSource(), m.checkTalk()); err != nil {
		return nil, err
	}
	m = s.steered(m)
	turn := 0
	if do.As != "" {
		seat := s.seat(do.As)
		if seat == nil || seat.TakenBy != actor {
			return nil, deniedError(actor, "speak for "+do.As+" without having taken over its seat")
		}
		if seat.Standing == Muted || seat.Standing == Removed {
			return nil, deniedError(actor, "speak for "+do.As+", which is "+string(seat.Standing))
		}
		m.From, m.By = do.As, actor
		if s.Turn != nil && s.Turn.Participant == do.As {
			turn = s.Turn.Number
		}
	}
	if done, err := s.isRepeat(m); done || err != nil {
		return nil, err
	}
	if turn != 0 {
		return s.withLimits(now, MessagePosted{Turn: turn, Message: s.completeMessage(m, turn, now)}), nil
	}
	return []Body{MessagePosted{Message: s.completeMessage(m, 0, now), Opening: do.Opening}}, nil
}

func (s *State) decidePolicy(actor string, do SetPolicy) ([]Body, error) {
	if err := s.checkControl(actor, "change the policy"); err != nil {
		return nil, err
	}
	return []Body{PolicyChanged(do)}, nil
}

// decideLimits replaces the limits. A limit below the amount that is used stops
// the room; a raised limit resumes a room that it had stopped.
func (s *State) decideLimits(actor string, do SetLimits, now Now) ([]Body, error) {
	if !s.control(actor) {
		return nil, deniedError(actor, "change the limits")
	}
	l := do.Limits.orDefaults(s.Spec.OneToOne)
	bodies := []Body{LimitsChanged{l}}
	name, reason := s.Tally.reached(l, now)
	switch {
	case name != "" && s.Phase == PhaseLive:
		bodies = append(bodies, s.abandon("a limit was lowered")...)
		bodies = append(bodies, *limitStopped(name, reason))
	case name == "" && s.Phase == PhaseStopped && s.Ending.Cause != CausePerson:
		bodies = append(bodies, Resumed{})
	}
	return bodies, nil
}

// decideNext gives the floor to the agent that a person names, without asking
// the policy.
func (s *State) decideNext(actor string, do Next, now Now) ([]Body, error) {
	if err := s.checkControl(actor, "give the floor"); err != nil {
		return nil, err
	}
	if s.Phase != PhaseLive || s.Turn != nil {
		return nil, invalidError("ROOM-BUSY", "the floor is not free", "wait for the turn to end, or resume the room")
	}
	x := s.seat(do.Participant)
	if x == nil || !x.Driven() || x.Standing != Active {
		return nil, invalidError("ROOM-UNKNOWN", quote(do.Participant)+" cannot be given the floor", "name an active agent of the roster")
	}
	if s.starting(x) {
		return nil, invalidError("ROOM-STARTING", "the agent of "+x.ID+" is not ready yet", "wait until it has started")
	}
	if x.away() {
		return nil, invalidError("ROOM-AWAY", "the session of "+x.ID+" is away", "wait until it awaits its turn, or take the seat over")
	}
	if m := x.overBudget(); m != nil && x.TakenBy == "" {
		return nil, budgetError(x, *m)
	}
	if stop := s.limitStop(x, do.Grant, now); stop != nil {
		return []Body{*stop}, nil
	}
	if over := s.passesBudget(x, do.Grant); over != nil {
		return nil, budgetError(x, over.BudgetMark)
	}
	return []Body{s.grantEvent(x, policy.Speak(x.ID, "chosen by "+actor), nil, do.Grant)}, nil
}
