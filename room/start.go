package room

import (
	"cmp"
	"slices"
	"time"
)

// startWait is how long the policy is not asked while an agent starts, so that
// agents that start quickly take part from the first round.
const startWait = 10 * time.Second

// starting reports whether the agent of x has to become ready before x can get
// the floor.
func (s *State) starting(x *Seat) bool {
	return x.Starting != 0 && x.Standing == Active && x.TakenBy == ""
}

// mustStart records that the agent of x, if it has a start phase, has to be
// started or to be seen to run.
func (x *Seat) mustStart(e Event) {
	if x.Starts {
		x.Starting, x.StartedAt = e.Seq, e.Clock
	}
}

// starts returns the agents that have to be started now. A seat with a draft
// waits for the person.
func (s *State) starts() []*Seat {
	var out []*Seat
	for _, x := range s.Seats {
		if s.starting(x) && (s.Turn == nil || s.Turn.Participant != x.ID) {
			out = append(out, x)
		}
	}
	return out
}

// askAt returns the clock at which the policy is asked, and false when it is not
// asked before an agent has started or a session has come: when no other can be
// chosen, or when the next decline would settle the room. Nor is it before a held message
// is released, if the next decline would settle the room. News about the room are a
// reason to ask while a session is away, but not while an agent starts.
func (s *State) askAt() (time.Duration, bool) {
	at := s.notBefore()
	starting, eligible, away := false, false, false
	for _, x := range s.Seats {
		if s.starting(x) {
			starting = true
			at = max(at, x.StartedAt+startWait)
		}
		why := s.Ineligible(x)
		eligible, away = eligible || why == "", away || why == reasonAway
	}
	last := s.Tally.Declines+1 >= s.Limits.MaxDeclines
	calling, held := s.CallsOpen(), s.Mail.Deliveries.Holding()
	switch {
	case (starting || away) && !eligible, starting && last, calling && s.callsHold():
		return at, false
	}
	return at, !away && !calling && !held || !last || s.LastNews > s.Declined
}

// callsHold reports whether the budgets of open calls leave too little for the next
// prompt. The room waits for the end of a call then.
func (s *State) callsHold() bool {
	l, reserved := s.Limits, s.Reserved()
	return l.MaxTokens > 0 && s.Tally.Tokens+reserved.Tokens+int64(s.Bounds.Tokens) > l.MaxTokens ||
		l.MaxCost > 0 && s.Tally.Cost+reserved.Cost+s.costliestPrompt() > l.MaxCost
}

// decideStarted ends a start of an agent.
func (s *State) decideStarted(do Started) ([]Body, error) {
	x := s.seat(do.Participant)
	if s.Phase != PhaseLive || !slices.Contains(s.starts(), x) || x.Starting != do.Attempt {
		return nil, ErrLate
	}
	if do.Code == "" {
		return []Body{SeatReady{Participant: x.ID, Latency: do.Latency}}, nil
	}
	return s.failSeat(x, do.Code, do.Error, do.Latency), nil
}

// decideExited records the end of an agent between its turns. The end of one that
// has a turn is the turn's failure.
func (s *State) decideExited(do Exited) []Body {
	x := s.seat(do.Participant)
	if x == nil || !x.Starts || x.Starting != 0 || x.Standing != Active || x.TakenBy != "" || s.ended() {
		return nil
	}
	if s.Turn == nil || s.Turn.Participant != x.ID {
		return s.failSeat(x, do.Code, do.Error, 0)
	}
	if s.Turn.Draft == nil {
		return nil
	}
	return []Body{seatFailed(x, do.Code, do.Error, 0)} // a person may still approve its draft
}

// failSeat records a failure outside a turn, and suspends a seat that cannot go on.
func (s *State) failSeat(x *Seat, code, text string, latency time.Duration) []Body {
	bodies := []Body{seatFailed(x, code, text, latency)}
	if reason := s.suspension(x, code, text); reason != "" {
		return s.withSuspension(bodies, x, reason)
	}
	return bodies
}

func seatFailed(x *Seat, code, text string, latency time.Duration) SeatFailed {
	return SeatFailed{Participant: x.ID, Code: cleanReason(code), Error: cleanReason(text), Latency: latency}
}

// suspension returns why a further failure suspends x, or "" if it does not.
func (s *State) suspension(x *Seat, code, text string) string {
	text = headline(text)
	switch {
	case code == FailExited, code == FailDenied, code == FailUntrusted: // asking again changes nothing
		return cmp.Or(text, code)
	case x.Failures+1 >= s.Limits.MaxFailures:
		return count(x.Failures+1, "failure") + " in a row: " + text
	}
	return ""
}

// lateStart returns the first agent that is not ready in time, or nil.
func (s *State) lateStart(now time.Duration) *Seat {
	for _, x := range s.starts() {
		if now >= s.startDeadline(x) {
			return x
		}
	}
	return nil
}

func (s *State) startDeadline(x *Seat) time.Duration {
	return x.StartedAt + s.Limits.startTimeout(x.Participant) + grace
}

func (s *State) applyReady(e Event, b SeatReady) {
	if x := s.seat(b.Participant); x != nil {
		s.noteMissed(e, x)
		x.Starting = 0
	}
}

// noteMissed has the policy asked at once if it has declined while the agent of x
// was starting. Otherwise a start changes nothing that the policy knows.
func (s *State) noteMissed(e Event, x *Seat) {
	if x.Starting != 0 && s.Declined > x.Starting {
		s.LastNews = e.Seq
	}
}

func (s *State) applySeatFailed(e Event, b SeatFailed) {
	if x := s.seat(b.Participant); x != nil {
		s.noteMissed(e, x)
		x.Failures++
		x.Failed++
		x.NeedsFullContext = true // the next process knows nothing
		s.requeue(e, x, "its agent was started again")
		x.mustStart(e)
	}
}

// lostRequest reports whether a turn that failed with that code may have left its
// agent without a process, or at work on the answer.
func lostRequest(code string) bool {
	switch code {
	case FailTimeout, FailExited, FailInterrupted, FailFailed:
		return true
	}
	return false
}
