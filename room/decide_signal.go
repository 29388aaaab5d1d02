package room

import (
	"time"

	"github.com/folkmoot/moot/policies/policy"
)

// decidePosted adds a message that an agent raised beside its reply. Its
// sender is the seat, whatever the message says; it may lower its visibility
// and never raise it.
func (s *State) decidePosted(actor string, do Posted, now Now) ([]Body, error) {
	x := s.seat(actor)
	if x == nil || x.Standing != Active {
		return nil, denied(actor, "post messages")
	}
	if s.Phase != Live {
		return nil, denied(actor, "post while the room is "+string(s.Phase))
	}
	// Every message makes the policy think anew: an agent that never stops
	// would keep the floor from everybody.
	if x.Asides >= s.Limits.MaxInternal {
		return nil, invalid("ROOM-ASIDES", x.ID+" has posted "+count(x.Asides, "message")+" beside its turn", "wait for the floor")
	}
	m := do.Message
	if m.Trace != nil && m.Trace.Hops > s.Limits.MaxHops {
		return nil, invalid("ROOM-HOPS", "message has "+count(m.Trace.Hops, "hop")+", over the limit of "+itoa(s.Limits.MaxHops), "")
	}
	m.From, m.By, m.Source, m.Kind = x.ID, "", "agent", brief(orElse(m.Kind, KindUtterance))
	m.To, m.Text, m.Summary = orElse(m.To, Broadcast), valid(m.Text), brief(m.Summary)
	m.Visibility = Visibility(orElse(string(m.Visibility), string(UserVisible)))
	if x.Mode != FullAuto {
		return nil, denied(actor, "post beside its turn: its messages are reviewed by a person")
	}
	if x.Owner != "" {
		return nil, denied(actor, "post while "+x.Owner+" has its seat")
	}
	if done, err := s.posted(m); done || err != nil {
		return nil, err
	}
	if err := s.addressable(m); err != nil {
		return nil, err
	}
	if len([]rune(m.Text)) > s.Limits.MaxOutput {
		return nil, invalid("ROOM-SIZE", "the message is over the limit of "+itoa(s.Limits.MaxOutput)+" characters", "")
	}
	posted := MessagePosted{Message: s.finish(m, 0, now), Auto: true}
	texts := append(s.Texts[:len(s.Texts):len(s.Texts)], fingerprint(m.Text))
	if guard := s.loops(texts); guard != "" {
		return append(append([]Body{posted}, s.abandon("loop "+guard)...),
			Stopped{Cause: StopLoop, Name: guard, Reason: "loop " + guard + ": the same text again and again"}), nil
	}
	return []Body{posted}, nil
}

// decideViolated counts what an endpoint does against its protocol. Only
// powers of two are written down, so that violations cannot fill the log.
func (s *State) decideViolated(do Violated) ([]Body, error) {
	x := s.seat(do.Participant)
	if x == nil || x.Standing != Active {
		return nil, nil
	}
	v := Violation{Participant: do.Participant, Code: cut(valid(do.Code), 64), Detail: cut(valid(do.Detail), 500), Count: 1}
	if x.Violations+1 <= s.Limits.MaxViolations {
		return []Body{v}, nil
	}
	bodies := append([]Body{v}, s.interruptSeat(x)...)
	return s.withSeatChange(bodies, x, Suspended, "broke its protocol "+itoa(x.Violations+1)+" times"), nil
}

// decideForgot notes that an agent has lost its memory, where that changes what
// it is handed: once until it is handed everything. A seat that is not active
// is, when it becomes so.
func (s *State) decideForgot(do Forgot) []Body {
	x := s.seat(do.Participant)
	if x == nil || !x.Remembers || x.Standing != Active || s.ended() {
		return nil
	}
	if t := s.Turn; t != nil && t.Participant == x.ID && !t.Forgot || !x.Fresh {
		return []Body{SeatForgot(do)}
	}
	return nil
}

func (s *State) interruptSeat(x *Seat) []Body {
	if s.Turn == nil || s.Turn.Participant != x.ID {
		return nil
	}
	return []Body{TurnInterrupted{Turn: s.Turn.Number, Reason: x.ID + " suspended"}}
}

// grace is how long after its time-out a turn is given up whatever its
// endpoint does.
const grace = time.Second

// decideTick lets the room's clock end what it ends.
func (s *State) decideTick(now Now) ([]Body, error) {
	if s.Phase != Live {
		return nil, nil
	}
	if now.Clock >= s.Limits.MaxDuration {
		reason := "limit maxDuration: the room has run for " + now.Clock.String()
		return append(s.abandon("limit maxDuration"), Stopped{Cause: StopLimit, Name: "maxDuration", Reason: reason}), nil
	}
	if t := s.Turn; s.inFlight() && s.works(t) && now.Clock >= t.Started+t.Timeout+grace {
		return s.decideFailed(Failed{
			Turn: t.Number, Request: t.Request, Code: FailTimeout, Latency: now.Clock - t.Started,
			Error: "no answer within " + t.Timeout.String(),
		}, now)
	}
	return nil, nil
}

// works reports whether an agent, and not a person, has the turn.
func (s *State) works(t *Turn) bool {
	x := s.seat(t.Participant)
	return x != nil && x.Driven() && x.Owner == ""
}

// Deadline returns the clock at which Tick would yield events if nothing else
// happens, and false when there is none.
func (s *State) Deadline() (time.Duration, bool) {
	if s.Phase != Live {
		return 0, false
	}
	at := s.Limits.MaxDuration
	if t := s.Turn; s.inFlight() && s.works(t) {
		at = min(at, t.Started+t.Timeout+grace)
	}
	return at, true
}

// Ineligible says why x may not be chosen now, or "" when it may. The words
// are part of the policy ABI: "ineligible_reason".
func (s *State) Ineligible(x *Seat) string {
	switch {
	case x.Kind == policy.Human:
		return "attends"
	case x.Standing != Active:
		return string(x.Standing)
	case s.Turn != nil:
		return "busy"
	case x.Cooldown > 0 && x.LastTurn > 0 && s.Tally.Turns+1-x.LastTurn <= x.Cooldown:
		return "cooldown"
	case x.MaxTokens > 0 && x.Spent >= x.MaxTokens:
		return "budget"
	}
	return ""
}
