package room

import (
	"fmt"
)

// Follows returns why e cannot be the event after s, "" if it can. It checks
// rules that hold for every room: one turn at a time, no turn of a room that is not
// live, none past a limit, and an end for each turn once. A log that was written by
// Decide follows throughout; Apply does not check this.
func (s *State) Follows(e Event) string {
	if e.Seq != s.Seq+1 {
		return fmt.Sprintf("it has the number %d after %d", e.Seq, s.Seq)
	}
	if e.Epoch < s.Epoch {
		return fmt.Sprintf("it is of epoch %d, after epoch %d", e.Epoch, s.Epoch)
	}
	if _, opens := e.Body.(Opened); opens != (s.Phase == PhaseUnopened) {
		if opens {
			return "the room is opened twice"
		}
		return "the room is not open"
	}
	switch b := e.Body.(type) {
	case TurnGranted:
		return s.grantFollows(e, b)
	case MessagePosted:
		if b.Turn != 0 {
			return s.endFollows(b.Turn)
		}
	case TurnApproved:
		if t := s.Turn; t == nil || t.Number != b.Turn || t.Draft == nil || t.Draft.Hash != b.Draft {
			return "it approves a draft that does not wait"
		}
	case TurnEdited:
		if t := s.Turn; t == nil || t.Number != b.Turn || t.Draft == nil {
			return "it edits a draft that does not wait"
		}
	case TurnDrafted:
		return s.endFollows(b.Turn)
	case TurnRejected:
		return s.endFollows(b.Turn)
	case TurnPassed:
		return s.endFollows(b.Turn)
	case TurnFailed:
		return s.endFollows(b.Turn)
	case TurnInterrupted:
		return s.endFollows(b.Turn)
	case PermissionAsked:
		return s.permissionFollows(b)
	case PermissionAnswered:
		if why := s.turnFollows(b.Turn); why != "" {
			return why
		}
		if s.openRequest(b.ID) == nil {
			return "it answers the permission request " + b.ID + ", which does not wait"
		}
	case CallStarted, CallChanged, CallEnded:
		return s.callFollows(e.Body)
	case Resumed:
		if s.Phase == PhaseLive {
			return "it resumes a room that is live"
		}
	}
	return ""
}

// endFollows checks the end of the work on the open turn.
func (s *State) endFollows(turn int) string {
	why := s.turnFollows(turn)
	if why == "" && len(s.Turn.Requests) > 0 {
		return fmt.Sprintf("it ends turn %d, and the permission request %s waits", turn, s.Turn.Requests[0].ID)
	}
	return why
}

// turnFollows checks an event about the open turn.
func (s *State) turnFollows(turn int) string {
	switch {
	case s.Turn == nil:
		return fmt.Sprintf("it is about turn %d, and no turn is open", turn)
	case s.Turn.Number != turn:
		return fmt.Sprintf("it is about turn %d, and turn %d is open", turn, s.Turn.Number)
	}
	return ""
}

// grantFollows checks that the turn may be granted.
func (s *State) grantFollows(e Event, b TurnGranted) string {
	name, reached := s.Tally.reached(s.Limits, Now{Clock: e.Clock})
	x := s.seat(b.Participant)
	switch {
	case s.Turn != nil:
		return fmt.Sprintf("it grants turn %d, and turn %d is open", b.Turn, s.Turn.Number)
	case s.Phase != PhaseLive:
		return "it grants a turn, and the room is " + string(s.Phase)
	case b.Turn != s.Tally.Turns+1:
		return fmt.Sprintf("it grants turn %d after turn %d", b.Turn, s.Tally.Turns)
	case name != "":
		return "it grants a turn past the limit " + name + ": " + reached
	case x == nil:
		return "it grants a turn to " + b.Participant + ", who has no seat"
	case x.Standing != Active || !x.Driven():
		return "it grants a turn to " + b.Participant + ", who cannot have one"
	case x.away():
		return "it grants a turn to " + b.Participant + ", whose session is away"
	case x.TakenBy == "" && x.overBudget() != nil:
		return "it grants a turn to " + b.Participant + ", who has used its budget"
	}
	return ""
}
