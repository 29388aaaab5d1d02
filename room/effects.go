package room

import (
	"slices"
	"strconv"
	"time"

	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/policies/policy"
)

// An Effect is work that must be in progress outside this package: one of the
// types below. The coordinator starts effects that are missing and cancels those
// that the state no longer has. Key identifies an effect.
type Effect interface{ Key() string }

type (
	// Ask asks the policy. It starts when the room's clock reaches NotBefore.
	Ask struct {
		Decision  int64
		Through   int64 // newest event in the input; a newer event makes another Ask
		NotBefore time.Duration
	}
	// AskBid asks an agent how much it wants the floor.
	AskBid struct {
		Decision    int64
		Participant string
		Timeout     time.Duration
		NotBefore   time.Duration
	}
	// Start starts the agent of a seat and waits until it is ready. It has no
	// effect on an agent that runs.
	Start struct {
		Participant string
		Attempt     int64
		Timeout     time.Duration
	}
	// Speak sends the prompt of the open turn to its agent.
	Speak struct {
		Turn        int
		Participant string
		Request     string
		Window      Window
		Hints       policy.JSON
		Digest      string // of the prompt as it was granted; "" when an earlier process granted it
		Timeout     time.Duration
	}
)

// Key returns the stable id of the effect.
func (e Ask) Key() string {
	return "ask " + strconv.FormatInt(e.Decision, 10) + " " + strconv.FormatInt(e.Through, 10)
}

// Key returns the stable id of the effect.
func (e AskBid) Key() string {
	return "bid " + strconv.FormatInt(e.Decision, 10) + " " + e.Participant
}

// Key returns the stable id of the effect.
func (e Start) Key() string { return "start " + e.Participant + " " + strconv.FormatInt(e.Attempt, 10) }

// Key returns the stable id of the effect.
func (e Speak) Key() string { return "speak " + strconv.Itoa(e.Turn) + " " + e.Request }

// Effects returns all work that must be in progress in s.
func (s *State) Effects() []Effect {
	out := s.callEffects()
	if s.Phase != PhaseLive {
		return out
	}
	for _, x := range s.starts() {
		out = append(out, Start{Participant: x.ID, Attempt: x.Starting, Timeout: s.Limits.startTimeout(x.Participant)})
	}
	if t := s.Turn; t != nil {
		if s.AttendedTurn() {
			return out
		}
		speak := Speak{Turn: t.Number, Participant: t.Participant, Request: t.Request, Window: t.Window, Hints: t.Hints, Timeout: t.Timeout}
		if t.Epoch == s.Epoch {
			speak.Digest = t.Prompt
		}
		return append(out, speak)
	}
	if s.Spec.Call != nil {
		if s.serves() {
			out = append(out, ServeAgent{Turn: s.Tally.Turns + 1, Seq: s.Seq})
		}
		return out
	}
	next := s.Policy.Decision + 1
	at, ok := s.askAt()
	if !ok {
		return out
	}
	if s.Policy.Ref.Needs.Bids {
		if bids := s.missingBids(next, at); len(bids) > 0 {
			return append(out, bids...)
		}
	}
	return append(out, Ask{Decision: next, Through: s.Seq, NotBefore: at})
}

// notBefore returns the clock at which the policy is asked: after a decline at
// its retry time, or at once if there is a new message or change.
func (s *State) notBefore() time.Duration {
	if s.Tally.Declines == 0 || s.LastNews > s.Declined {
		return 0
	}
	return s.RetryAt
}

func (s *State) missingBids(next int64, at time.Duration) []Effect {
	var out []Effect
	for _, x := range s.Seats {
		if x.NoBids || s.Ineligible(x) != "" || x.TakenBy != "" || s.bid(x.ID) != nil {
			continue
		}
		out = append(out, AskBid{next, x.ID, s.Limits.BidTimeout, at})
	}
	return out
}

func (s *State) bid(id string) *BidPosted {
	for i := range s.Bids {
		if s.Bids[i].Participant == id {
			return &s.Bids[i]
		}
	}
	return nil
}

// policyKind returns the kind of the seat in policy inputs.
func (x *Seat) policyKind() string {
	if x.Kind == "" {
		return policy.Local
	}
	return x.Kind
}

// Timeout returns the time limit of a turn of the participant with id.
func (s *State) Timeout(id string) time.Duration {
	if x := s.seat(id); x != nil {
		return s.Limits.timeout(x.Participant)
	}
	return s.Limits.TurnTimeout
}

// grace is the time after its time-out at which a turn ends even if its
// endpoint does not return.
const grace = time.Second

// decideTick ends a turn, a draft, a start or the room when its time is over.
func (s *State) decideTick(now Now) ([]Body, error) {
	if s.Phase != PhaseLive {
		return nil, nil
	}
	if now.Clock >= s.Limits.MaxDuration {
		name, reason := s.Tally.reached(s.Limits, now)
		return append(s.abandon("limit "+name), *limitStopped(name, reason)), nil
	}
	if t := s.Turn; s.inFlight() && s.agentHas(t) && now.Clock >= t.deadline() {
		if refused := s.overdue(t, now.Clock); refused != nil {
			return refused, nil
		}
		return s.decideFailed(Failed{
			Turn: t.Number, Request: t.Request, Code: FailTimeout, Latency: now.Clock - t.Started,
			Error: "no answer within " + human.Duration(t.Timeout),
		}, now)
	}
	if due := s.callsDue(now.Clock); due != nil {
		return due, nil
	}
	if at, ok := s.DraftDeadline(); ok && now.Clock >= at {
		return s.withLimits(now, TurnRejected{
			Turn: s.Turn.Number, Draft: s.Turn.Draft.Hash, Reason: "not sent: no person has answered within " + human.Duration(s.Limits.DraftTimeout),
		}), nil
	}
	if x := s.lateStart(now.Clock); x != nil {
		return s.failSeat(x, FailTimeout, "not ready within "+human.Duration(s.Limits.startTimeout(x.Participant)), now.Clock-x.StartedAt), nil
	}
	return append(s.decideDues(now), s.idleNotices(now)...), nil
}

// DraftDeadline returns the clock at which the draft that waits is not sent for want
// of an answer, and false if it waits as long as the room lives.
func (s *State) DraftDeadline() (time.Duration, bool) {
	if s.Turn == nil || s.Turn.Draft == nil || s.Limits.DraftTimeout <= 0 {
		return 0, false
	}
	return s.Turn.Draft.Since + s.Limits.DraftTimeout, true
}

// AttendedTurn reports whether the open turn waits for a person, who reviews its
// draft or has taken the seat over.
func (s *State) AttendedTurn() bool {
	return s.Turn != nil && (s.Turn.Draft != nil || !s.agentHas(s.Turn))
}

// agentHas reports whether an agent, and not a person, has the turn.
func (s *State) agentHas(t *Turn) bool {
	x := s.seat(t.Participant)
	return x != nil && x.Driven() && x.TakenBy == ""
}

// Deadline returns the clock at which [Tick] would yield events if no other
// command comes, and false if it never would.
func (s *State) Deadline() (time.Duration, bool) {
	if s.Phase != PhaseLive {
		return 0, false
	}
	at := min(s.Limits.MaxDuration, s.callDeadline())
	if t := s.Turn; s.inFlight() && s.agentHas(t) {
		at = min(at, t.deadline())
	}
	if end, ok := s.DraftDeadline(); ok {
		at = min(at, end)
	}
	for _, x := range s.starts() {
		at = min(at, s.startDeadline(x))
	}
	if slices.ContainsFunc(s.Mail.Awaited, func(w Awaited) bool { return s.idle(w.To) }) {
		at = min(at, s.Clock)
	}
	if due, ok := s.Mail.Deliveries.Next(s.Limits.AckTimeout); ok {
		at = min(at, due)
	}
	return at, true
}

// Ineligible returns why x may not be chosen now, or "" if it may. The words are
// part of the policy ABI ("ineligible_reason").
func (s *State) Ineligible(x *Seat) string {
	switch {
	case !x.Driven():
		return "attends"
	case x.Standing != Active:
		return string(x.Standing)
	case x.away():
		return reasonAway
	case s.Turn != nil, s.starting(x): // a policy that waits for a busy agent also waits for one that starts
		return "busy"
	case x.Cooldown > 0 && x.LastTurn > 0 && !x.urgentWaits() && s.Tally.Turns+1-x.LastTurn <= x.Cooldown:
		return "cooldown"
	case x.MaxTokens > 0 && x.Spent >= x.MaxTokens, x.TakenBy == "" && x.overBudget() != nil:
		return "budget"
	}
	return ""
}
