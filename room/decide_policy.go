package room

import (
	"cmp"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room/explore"
)

// decideDecided turns a decision of the policy into events.
func (s *State) decideDecided(do Decided, now Now) ([]Body, error) {
	if err := s.checkDue(do.Record); err != nil {
		return nil, err
	}
	rec := s.withoutState(do.Record)
	d := do.Decision
	d.Reason = cleanReason(d.Reason)
	if why := invalidDecision(d); why != "" {
		rec.Code, rec.Error = "run.bad_output", why
		return s.decidePolicyFailed(rec)
	}
	switch d.Action {
	case policy.ActionSpeak:
		return s.grant(d, &rec, do.Grant, now)
	case policy.ActionFinish:
		return []Body{Completed{Cause: CauseFinish, Reason: d.Reason, Record: &rec}}, nil
	case policy.ActionError:
		rec.Code, rec.Error = "run.error", d.Message
		return s.decidePolicyFailed(rec)
	}
	return s.decline(d, rec, do.Unattended, now), nil
}

// invalidDecision says why a log cannot hold the decision, or returns "".
func invalidDecision(d policy.Decision) string {
	if d.Confidence != nil && validShare(d.Confidence) == nil {
		return "its confidence is no number from 0 to 1"
	}
	for _, sc := range d.Scores {
		if !finite(sc.Score) {
			return "the score of " + quote(sc.Agent) + " is no number"
		}
	}
	return ""
}

// checkDue refuses a decision that the room no longer waits for. Each event that
// is stored while the policy computes makes the decision stale, and the policy is
// asked again. So the input of a recorded decision is always the fold of the log
// just before it.
func (s *State) checkDue(r policy.Record) error {
	if s.Phase != PhaseLive || s.Turn != nil || r.Decision != s.Policy.Decision+1 || r.Through != s.Seq || r.Digest != s.Policy.Ref.Digest {
		return ErrStale
	}
	return nil
}

// A record holds the policy's state itself if it has at most inlineState bytes,
// or at every stateEvery-th decision. Other records have its digest only.
const (
	inlineState = 512
	stateEvery  = 64
)

func (s *State) withoutState(r policy.Record) policy.Record {
	if (len(r.StateJSON) > inlineState || r.State == s.Policy.Digest) && r.Decision%stateEvery != 0 {
		r.StateJSON = nil
	}
	return r
}

func (s *State) decline(d policy.Decision, rec policy.Record, unattended bool, now Now) []Body {
	retry := s.Limits.Retry(d.RetryMS)
	if unattended && d.RetryMS <= 0 && rec.State == s.Policy.Digest && s.quiescent() {
		retry = minRetry
	}
	bodies := []Body{RoundDeclined{Record: rec, Reason: cmp.Or(d.Reason, "no decision"), Retry: retry}}
	if opening := s.objectiveMessage(now); opening != nil {
		return append(bodies, *opening)
	}
	if n := s.Tally.Declines + 1; n >= s.Limits.MaxDeclines && !s.CallsOpen() && !s.Mail.Deliveries.Holding() {
		bodies = append(bodies, s.settled(count(n, "round")+" declined in a row: "+cmp.Or(d.Reason, "no decision")))
	}
	return bodies
}

// quiescent reports whether nothing changes the policy's input but time, so that
// waiting is useless: no person may speak, no agent is starting, comes, bids or may
// post a message outside its turns, and no message is held.
func (s *State) quiescent() bool {
	if len(s.Spec.Observers) > 0 || s.CallsOpen() || s.Mail.Deliveries.Holding() {
		return false
	}
	return !slices.ContainsFunc(s.Seats, func(x *Seat) bool {
		if x.Standing != Active {
			return false
		}
		posts := x.ModeNow() == FullAuto && x.Turns > 0 && (x.Starts || x.Kind == policy.Remote)
		bids := s.Policy.Ref.Needs.Bids && !x.NoBids
		return !x.Driven() || x.Session || x.TakenBy != "" || s.starting(x) || posts || bids
	})
}

// objectiveMessage returns the objective as a message of the host, if the
// conversation has not begun. It is for policies that wait for a first message:
// one that declines although nobody has spoken gets it. nil means none is needed.
func (s *State) objectiveMessage(now Now) *MessagePosted {
	text := strings.TrimSpace(s.Spec.Objective)
	if text == "" || s.Tally.Messages > 0 || s.Tally.Turns > 0 || len(s.starts()) > 0 {
		return nil
	}
	m := Message{From: ActorHost, To: Broadcast, Kind: KindRequest, Text: validUTF8(text), Source: "user"}
	return &MessagePosted{Message: s.completeMessage(m, 0, now), Opening: true}
}

// settled returns the end of a room in which the policy has nothing left to do.
// It is degraded when the room did not do what it was opened for.
func (s *State) settled(reason string) Completed {
	var faults []string
	for _, x := range s.Seats {
		if x.Standing == Suspended && x.Fault != "" {
			faults = append(faults, x.ID)
		}
	}
	var why []string
	switch len(faults) {
	case 0:
	case 1:
		why = append(why, faults[0]+" is suspended for its failures")
	default:
		why = append(why, strings.Join(faults, ", ")+" are suspended for their failures")
	}
	if s.Tally.Turns == 0 {
		why = append(why, "no agent had a turn")
	}
	reason += s.budgetReason()
	if len(why) > 0 {
		reason += "; " + strings.Join(why, "; ")
	}
	return Completed{Cause: CauseSettled, Reason: reason, Degraded: len(why) > 0}
}

func (s *State) grant(d policy.Decision, rec *policy.Record, g Grant, now Now) ([]Body, error) {
	x := s.seat(d.Agent)
	if x == nil || s.Ineligible(x) != "" {
		why := "is not in the roster"
		if x != nil {
			why = "is not eligible: " + s.Ineligible(x)
		}
		r := *rec
		r.Code, r.Error = "run.bad_choice", "chose "+quote(d.Agent)+", who "+why
		return s.decidePolicyFailed(r)
	}
	if d.Hints != nil && !s.Policy.Ref.Hints {
		r := *rec
		r.Code, r.Error = "run.hints", "gave hints without the grant; set policy.hints: true in room.yaml to allow them"
		return s.decidePolicyFailed(r)
	}
	d, chosen := s.Explore(d, rec)
	x = s.seat(d.Agent)
	if stop := s.limitStop(x, g, now); stop != nil {
		return []Body{*stop}, nil
	}
	if over := s.passesBudget(x, g); over != nil { // the policy is asked again, without this seat
		return []Body{*over}, nil
	}
	granted := s.grantEvent(x, d, rec, g)
	granted.Exploration = chosen
	return []Body{granted}, nil
}

// Explore returns the decision that the room takes in place of d, and how it was drawn:
// nil if the room does not explore or d gives no turn. Only an agent that the policy
// could have chosen takes the turn; hints go to the agent that they were written for.
func (s *State) Explore(d policy.Decision, r *policy.Record) (policy.Decision, *explore.Choice) {
	x := s.seat(d.Agent)
	if !(s.Spec.Explore > 0) || d.Action != policy.ActionSpeak || x == nil || s.Ineligible(x) != "" {
		return d, nil
	}
	if why := s.keepsChoice(); why != "" {
		return d, &explore.Choice{Choice: d.Agent, Propensity: 1, Kept: why}
	}
	var agents []string
	for _, x := range s.Seats {
		if s.Ineligible(x) == "" {
			agents = append(agents, x.ID)
		}
	}
	taken, c := explore.Draw(min(s.Spec.Explore, 1), r.Seed, r.Through, d.Agent, agents, d.Scores)
	if taken != d.Agent {
		d.Agent, d.Hints = taken, nil
	}
	return d, &c
}

// Why returns the reason of a turn as people read it. A turn that explores another agent
// than the policy chose has that as its reason, and then the reason of the choice.
func (b TurnGranted) Why() string {
	if !b.Exploration.Replaced(b.Participant) {
		return b.Reason
	}
	why := b.Exploration.Text()
	if b.Reason != "" {
		why += " (" + b.Reason + ")"
	}
	return why
}

// keepsChoice returns why the next choice of the policy is not replaced, or "": an agent
// has handed off, or a person has addressed a participant since the last turn.
func (s *State) keepsChoice() string {
	switch {
	case s.Handoff != nil:
		return explore.KeptHandOff
	case s.Request:
		return explore.KeptRequest
	}
	return ""
}

// grantEvent returns the event that gives x the floor.
func (s *State) grantEvent(x *Seat, d policy.Decision, rec *policy.Record, g Grant) TurnGranted {
	return TurnGranted{
		Turn: s.Tally.Turns + 1, Participant: x.ID, Reason: d.Reason, Confidence: d.Confidence,
		Hints: d.Hints, Scores: d.Scores, Record: rec,
		Request: g.Request, Prompt: g.Prompt, Tokens: g.Tokens,
		Window: s.window(x, g), Timeout: s.Limits.timeout(x.Participant),
	}
}

// window returns the window of the prompt or, without a prompt, the window that
// it would have.
func (s *State) window(x *Seat, g Grant) Window {
	if g.Window.Through == s.Seq {
		return g.Window
	}
	return s.WindowFor(x.ID)
}

// limitStop returns the event that stops the room if the next prompt would pass
// a limit, or nil.
func (s *State) limitStop(x *Seat, g Grant, now Now) *Stopped {
	l, reserved := s.Limits, s.Reserved()
	name, reason := s.Tally.reached(l, now)
	switch c := x.Price.of(Usage{Input: g.Tokens}); {
	case name != "":
	case l.MaxTokens > 0 && s.Tally.Tokens+reserved.Tokens+g.Tokens > l.MaxTokens:
		name, reason = "maxTokens", "the next prompt, about "+itoa(g.Tokens)+" tokens, would pass "+itoa(l.MaxTokens)
	case l.MaxCost > 0 && s.Tally.Cost+reserved.Cost+c > l.MaxCost:
		name, reason = "maxCost", "the next prompt would cost about "+human.Money(c)+", and "+human.Rough(human.Money(s.Tally.Cost), s.Tally.CostEstimated)+" of "+human.Money(l.MaxCost)+" is used"
	default:
		return nil
	}
	return limitStopped(name, reason)
}

// limitStopped returns the end of a room at a limit.
func limitStopped(name, reason string) *Stopped {
	return &Stopped{Cause: CauseLimit, Name: name, Reason: "limit " + name + ": " + reason}
}

// decidePolicyFailed pauses the room. There is no fallback that chooses a
// speaker.
func (s *State) decidePolicyFailed(r policy.Record) ([]Body, error) {
	if err := s.checkDue(r); err != nil {
		return nil, err
	}
	return []Body{Paused{Cause: CausePolicy, Code: r.Code, Reason: "policy " + quote(r.Policy) + " failed: " + r.Error, Record: &r}}, nil
}

func (s *State) decideBid(do BidMade) ([]Body, error) {
	if do.Decision != s.Policy.Decision+1 || s.Phase != PhaseLive || s.Turn != nil {
		return nil, ErrLate
	}
	for _, b := range s.Bids {
		if b.Participant == do.Participant {
			return nil, ErrLate
		}
	}
	if do.Bid.Reason = cleanReason(do.Bid.Reason); validShare(&do.Bid.Score) == nil {
		do.Bid, do.Failed = policy.Bid{}, "its bid is no number from 0 to 1"
	}
	return []Body{BidPosted(do)}, nil
}
