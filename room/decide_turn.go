package room

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// openTurn returns the open turn if it waits for an agent's answer to that request, else
// nil. The turn of a seat that a person has waits for that person.
func (s *State) openTurn(turn int, request string) *Turn {
	if t := s.Turn; t != nil && t.Number == turn && t.Request == request && t.Draft == nil && s.agentHas(t) {
		return t
	}
	return nil
}

// decideReplied turns an agent's reply into a message, a draft or a pass. A
// reply whose turn has ended is recorded and not forwarded.
func (s *State) decideReplied(do Replied, now Now) ([]Body, error) {
	do.Text, do.Reason = validUTF8(do.Text), cleanReason(do.Reason)
	t := s.openTurn(do.Turn, do.Request)
	if t == nil {
		sum := sha256.Sum256([]byte(do.Text))
		return []Body{ReplyLate{Turn: do.Turn, Participant: do.Participant, Digest: hex.EncodeToString(sum[:]), Bytes: len(do.Text)}}, nil
	}
	x := s.seat(t.Participant)
	worked := t.work(do.Latency, now.Clock)
	switch {
	case len(do.Text) > s.Limits.MaxOutput*4 || len([]rune(do.Text)) > s.Limits.MaxOutput:
		return s.decideFailed(Failed{
			Turn: do.Turn, Request: do.Request, Code: FailTooLarge, Usage: do.Usage, Latency: do.Latency, ToolCalls: x.countTools(do.Reply),
			Error: "the answer is over the limit of " + itoa(s.Limits.MaxOutput) + " characters",
		}, now)
	case do.Outcome != endpoint.Said || strings.TrimSpace(do.Text) == "":
		reason := do.Reason
		if do.Outcome == endpoint.Refused {
			reason = cmp.Or(reason, "refused")
		}
		return s.withHandOff(x, do.Handoff, s.withLimits(now, TurnPassed{Turn: t.Number, Reason: reason, Usage: do.Usage, Latency: worked, ToolCalls: x.countTools(do.Reply), Silent: true})), nil
	}
	m := s.completeMessage(s.narrated(x, Message{
		From: x.ID, To: Broadcast, Kind: KindUtterance, Text: do.Text, Source: "agent", Confidence: do.Confidence, ToolRounds: max(0, do.ToolRounds), Cut: do.Cut,
	}), t.Number, now)
	if !x.foreign() {
		m.Tools, m.ToolsMore = endpoint.BoundedTools(do.Tools)
	}
	if why := s.review(x, m); why != "" {
		return s.withHandOff(x, do.Handoff, []Body{TurnDrafted{Turn: t.Number, Draft: draftHash(t.Request, m.Text), Message: m, Usage: do.Usage, Why: why, Latency: worked}}), nil
	}
	return s.withHandOff(x, do.Handoff, s.withLimits(now, MessagePosted{Turn: t.Number, Message: m, Usage: do.Usage, Latency: worked, Auto: true})), nil
}

// completeMessage sets the fields of a message that the room knows.
func (s *State) completeMessage(m Message, turn int, now Now) Message {
	m.Run, m.Turn = s.Spec.Room, turn
	if m.ID == "" {
		m.ID = s.Spec.Room + "." + itoa(s.Seq+1)
	}
	m.Visibility = Visibility(cmp.Or(string(m.Visibility), string(UserVisible)))
	m.Confidence = validShare(m.Confidence)
	m.CreatedAt = float64(now.Wall.UnixMilli()) / 1000
	m.Mentions, m.Addressed = s.names().ScanPlain(m.Text, m.From)
	return m
}

// decideFailed ends a turn without a reply. It suspends a seat that has failed
// too often or whose process has ended, and stops a room at maxFailures.
func (s *State) decideFailed(do Failed, now Now) ([]Body, error) {
	t := s.openTurn(do.Turn, do.Request)
	if t == nil {
		return nil, ErrLate
	}
	if do.Code == FailHeld {
		return []Body{TurnInterrupted{Turn: do.Turn, Reason: cleanReason(do.Error), Tokens: s.interruptedTokens()}}, nil
	}
	if x := s.seat(t.Participant); x.gone(do.Code) {
		return s.leave(x), nil
	}
	failed := TurnFailed{Turn: do.Turn, Code: cleanReason(do.Code), Error: cleanReason(do.Error), Usage: do.Usage, Latency: t.work(do.Latency, now.Clock), ToolCalls: max(0, do.ToolCalls)}
	bodies := s.withLimits(now, failed)
	x := s.seat(t.Participant)
	reason := s.suspension(x, do.Code, do.Error)
	if reason == "" || x.Standing != Active {
		return bodies, nil
	}
	if len(bodies) > 1 { // the room stops; the seat is suspended before that
		return append([]Body{failed, SeatChanged{Participant: x.ID, Standing: Suspended, Reason: reason, Failed: true}}, bodies[1:]...), nil
	}
	return s.withSuspension(bodies, x, reason), nil
}

// Codes of failed turns.
const (
	FailTimeout  = "timeout"
	FailExited   = "exited"
	FailProtocol = "protocol"
	FailTooLarge = "too_large"
	FailAgent    = "agent"
	FailFailed   = "failed"

	// Of agents on other devices.
	FailDenied      = "denied"      // by the rules of one of the devices
	FailUntrusted   = "untrusted"   // the device has other keys or is not paired any more
	FailUnreachable = "unreachable" // the device does not answer
	FailLimited     = "limited"     // a limit of shared calls
	FailInterrupted = "interrupted" // the device, or the agent itself, was restarted
	FailHeld        = "held"        // its prompt is not sent (again): a pause without effect cancelled it, or the room has changed
)

// withLimits returns the end of a turn with the end of the room that it causes,
// if it reaches a limit or trips a loop guard.
func (s *State) withLimits(now Now, last Body) []Body {
	after := s.Tally
	switch b := last.(type) {
	case MessagePosted:
		after.Failures = 0
		if s.Turn != nil && s.Turn.Draft == nil {
			s.projectCharge(&after, b.Usage, b.Message.Text)
		}
		if b.Message.By != "" { // a person may repeat a text
			break
		}
		if stop := s.loopStop(b.Message.content()); stop != nil {
			return []Body{last, *stop}
		}
	case TurnPassed:
		after.Failures = 0
		s.projectCharge(&after, b.Usage, "")
	case TurnFailed:
		after.Failures++
		s.projectCharge(&after, b.Usage, "")
	}
	if name, reason := after.reached(s.Limits, now); name != "" && s.Phase == PhaseLive {
		return []Body{last, *limitStopped(name, reason)}
	}
	return []Body{last}
}

// projectCharge charges the open turn to t, a copy of the tally.
func (s *State) projectCharge(t *Tally, u Usage, text string) {
	t.add(chargeOf(s.seat(s.Turn.Participant).Price, u, s.Turn.Tokens, text))
}

// loopSameText is the loop guard of the limits sameText and sameTextOf.
const loopSameText = "same-text"

// loopStop returns the event that stops the room if text, the newest of an agent,
// trips the loop guard, or nil.
func (s *State) loopStop(text string) *Stopped {
	newest := fingerprint(text)
	same := 1
	for _, h := range s.Texts[max(0, len(s.Texts)+1-s.Limits.SameTextOf):] {
		if h == newest {
			same++
		}
	}
	if same < s.Limits.SameText {
		return nil
	}
	return &Stopped{Cause: CauseLoop, Name: loopSameText, Reason: "loop " + loopSameText + ": the same text again and again"}
}

// decideViolated records that an endpoint broke its protocol. Beyond
// MaxViolations the seat is suspended, so that violations cannot fill the log.
func (s *State) decideViolated(do Violated) ([]Body, error) {
	x := s.seat(do.Participant)
	if x == nil || x.Standing != Active {
		return nil, nil
	}
	v := Violation{Participant: do.Participant, Code: cut(validUTF8(do.Code), 64), Detail: cut(validUTF8(do.Detail), 500), Count: 1}
	if x.Violations+1 <= s.Limits.MaxViolations {
		return []Body{v}, nil
	}
	bodies := append([]Body{v}, s.interruptSeat(x, x.ID+" suspended")...)
	return s.withSuspension(bodies, x, "broke its protocol "+itoa(x.Violations+1)+" times"), nil
}

// decideForgot records that an agent has lost its memory, if that changes its
// next window: once until it gets a full window. A seat that is not active gets a
// full window when it becomes active.
func (s *State) decideForgot(do Forgot) []Body {
	x := s.seat(do.Participant)
	if x == nil || !x.Remembers || x.Standing != Active || s.ended() {
		return nil
	}
	if t := s.Turn; t != nil && t.Participant == x.ID && !t.Forgot || !x.NeedsFullContext {
		return []Body{SeatForgot(do)}
	}
	return nil
}
