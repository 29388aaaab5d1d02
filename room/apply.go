package room

import (
	"github.com/folkmoot/moot/policies/policy"
)

// Apply folds e into s. It is total: it never fails, whatever e says, and
// what it does depends on nothing but s and e.
func (s *State) Apply(e Event) {
	s.Seq = e.Seq
	s.Clock = max(s.Clock, e.Clock)
	s.Epoch = max(s.Epoch, e.Epoch)
	s.Commands.add(e.Command, e.Seq)
	switch b := e.Body.(type) {
	case Opened:
		s.applyOpened(b)
	case Claimed:
		s.applyClaimed()
	case Joined:
		s.applyJoined(e, b)
		return
	case SeatChanged:
		s.applyStanding(e, b)
	case SeatTaken:
		s.hand(b.Participant, b.By)
	case SeatReleased:
		s.hand(b.Participant, "")
	case SeatForgot:
		s.applyForgot(b)
	case PolicyChanged:
		s.Policy = PolicyCursor{Ref: b.Policy, Decision: s.Policy.Decision}
		s.Bids = nil
		s.news(e, "policy changed to "+b.Policy.Name)
	case LimitsChanged:
		s.Limits = b.Limits.orDefaults(s.Spec.OneToOne)
	case BidPosted:
		s.Bids = append(s.Bids[:len(s.Bids):len(s.Bids)], b)
	case RoundDeclined:
		s.applyDeclined(e, b)
	case TurnGranted:
		s.applyGranted(e, b)
	case TurnDrafted:
		s.applyDrafted(b)
	case TurnEdited:
		s.applyEdited(b)
	case TurnRejected:
		s.endTurn(e, b.Turn, "draft rejected")
	case TurnPassed:
		s.applyPassed(e, b)
	case TurnFailed:
		s.applyFailed(e, b)
	case TurnInterrupted:
		s.endTurn(e, b.Turn, "interrupted: "+b.Reason)
	case Violation:
		if x := s.seat(b.Participant); x != nil {
			x.Violations += b.Count
		}
	case MessagePosted:
		s.applyPosted(e, b)
	case Paused:
		s.end(Waiting, b.Cause, b.Code, b.Reason)
		if b.Record != nil {
			s.Ending.Fix = b.Record.Fix
		}
		s.note(e, "", policy.KindSystem, "paused: "+b.Reason)
	case Resumed:
		s.applyResumed(e)
	case Stopped:
		s.end(Halted, b.Cause, b.Name, b.Reason)
	case Completed:
		s.end(Done, b.Cause, "", b.Reason)
		s.decided(b.Record)
	case Errored:
		s.end(InError, "", b.Code, b.Reason)
	}
	if s.table == nil && len(s.Seats) > 0 {
		s.table = s.compileNames() // once, after all that join together
	}
}

func (s *State) applyOpened(b Opened) {
	s.Spec = b.Spec
	s.Limits = b.Spec.Limits.orDefaults(b.Spec.OneToOne)
	s.Bounds = b.Spec.Context.orDefaults()
	s.Policy = PolicyCursor{Ref: b.Spec.Policy}
	s.Phase = Live
	s.Followed = map[uint64]int32{}
	s.Counts = []int32{0}
}

// applyClaimed: a new epoch means new processes, which remember nothing.
func (s *State) applyClaimed() {
	for _, x := range s.Seats {
		x.Fresh = true
	}
}

func (s *State) applyJoined(e Event, b Joined) {
	x := s.seat(b.Participant.ID)
	if x == nil {
		x = &Seat{Index: int16(len(s.Seats)), Counts: map[int16]int32{}}
		s.Seats = append(s.Seats, x)
		s.Counts = append(s.Counts, 0)
	}
	x.Participant, x.Standing, x.Fresh = b.Participant, Active, true
	s.table = nil
	s.news(e, x.ID+" joined")
}

func (s *State) applyStanding(e Event, b SeatChanged) {
	x := s.seat(b.Participant)
	if x == nil {
		return
	}
	x.Standing = b.Standing
	if b.Standing == Active {
		x.Failures, x.Violations, x.Fresh = 0, 0, true
	}
	s.news(e, x.ID+" is now "+string(b.Standing))
}

// hand gives a seat to a person or, with no owner, back to its agent, which
// has not been handed what the person was.
func (s *State) hand(id, owner string) {
	if x := s.seat(id); x != nil {
		x.Owner = owner
		x.Fresh = x.Fresh || owner == ""
	}
}

// applyForgot: whether the agent forgot before or after it was handed the open
// turn nobody knows, so it is handed everything after it too.
func (s *State) applyForgot(b SeatForgot) {
	if x := s.seat(b.Participant); x != nil {
		x.Fresh = true
	}
	if t := s.Turn; t != nil && t.Participant == b.Participant {
		t.Forgot = true
	}
}

func (s *State) applyResumed(e Event) {
	s.Phase, s.Ending = Live, Ending{}
	s.Tally.Declines, s.Tally.Failures = 0, 0
	s.RetryAt = 0
	s.note(e, "", policy.KindSystem, "resumed")
}

// end leaves the live phase.
func (s *State) end(p Phase, cause, name, reason string) {
	s.Phase, s.Ending = p, Ending{Cause: cause, Name: name, Reason: reason}
}

// news records something that a policy should hear of at once.
func (s *State) news(e Event, text string) {
	s.note(e, "", policy.KindSystem, text)
	s.LastNews = e.Seq
}

// note adds what policies see of an event that is no message.
func (s *State) note(e Event, from, kind, text string) {
	turn := 0
	if s.Turn != nil {
		turn = s.Turn.Number
	}
	s.Recent.push(policy.Event{Seq: e.Seq, Turn: turn, From: from, Kind: kind, Text: text, Bytes: len(text)})
}
