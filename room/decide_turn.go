package room

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// openTurn returns the openTurn turn if the request is the one that it waits for.
func (s *State) openTurn(turn int, request string) *Turn {
	if t := s.Turn; t != nil && t.Number == turn && t.Request == request && t.Draft == nil {
		return t
	}
	return nil
}

// decideReplied turns an agent's reply into a message, a draft or a pass. A
// reply whose turn has ended is recorded and forwarded to nobody.
func (s *State) decideReplied(do Replied, now Now) ([]Body, error) {
	do.Text, do.Reason, do.Confidence = validUTF8(do.Text), cleanReason(do.Reason), validShare(do.Confidence)
	t := s.openTurn(do.Turn, do.Request)
	if t == nil {
		sum := sha256.Sum256([]byte(do.Text))
		return []Body{ReplyLate{Turn: do.Turn, Participant: do.Participant, Digest: hex.EncodeToString(sum[:]), Bytes: len(do.Text)}}, nil
	}
	x := s.seat(t.Participant)
	switch {
	case len(do.Text) > s.Limits.MaxOutput*4 || len([]rune(do.Text)) > s.Limits.MaxOutput:
		return s.decideFailed(Failed{
			Turn: do.Turn, Request: do.Request, Code: FailTooLarge, Usage: do.Usage, Latency: do.Latency,
			Error: "the answer is over the limit of " + itoa(s.Limits.MaxOutput) + " characters",
		}, now)
	case do.Outcome != endpoint.Said || strings.TrimSpace(do.Text) == "":
		reason := do.Reason
		if do.Outcome == endpoint.Refused {
			reason = orDefault(reason, "refused")
		}
		return s.withLimits(now, TurnPassed{Turn: t.Number, Reason: reason, Usage: do.Usage, Latency: do.Latency}), nil
	}
	m := s.completeMessage(Message{
		From: x.ID, To: Broadcast, Kind: KindUtterance, Text: do.Text, Source: "agent", Confidence: do.Confidence,
	}, t.Number, now)
	if why := s.review(x, m); why != "" {
		return []Body{TurnDrafted{Turn: t.Number, Draft: draftHash(t.Request, m.Text), Message: m, Usage: do.Usage, Why: why, Latency: do.Latency}}, nil
	}
	return s.withLimits(now, MessagePosted{Turn: t.Number, Message: m, Usage: do.Usage, Latency: do.Latency, Auto: true}), nil
}

// completeMessage fills in what the room knows of a message.
func (s *State) completeMessage(m Message, turn int, now Now) Message {
	m.Run, m.Turn = s.Spec.Room, turn
	if m.ID == "" {
		m.ID = s.Spec.Room + "." + itoa(s.Seq+1)
	}
	m.Visibility = Visibility(orDefault(string(m.Visibility), string(UserVisible)))
	m.Confidence = validShare(m.Confidence)
	m.CreatedAt = float64(now.Wall.UnixMilli()) / 1000
	m.Mentions, m.Addressed = s.names().Scan(m.Text, m.From)
	return m
}

// decideFailed ends a turn without a reply, suspends a seat that failed too
// often or whose process is gone, and stops a room that fails again and again.
func (s *State) decideFailed(do Failed, now Now) ([]Body, error) {
	t := s.openTurn(do.Turn, do.Request)
	if t == nil {
		return nil, ErrLate
	}
	if do.Code == FailHeld {
		return []Body{TurnInterrupted{Turn: do.Turn, Reason: cleanReason(do.Error)}}, nil
	}
	failed := TurnFailed{Turn: do.Turn, Code: cleanReason(do.Code), Error: cleanReason(do.Error), Usage: do.Usage, Latency: do.Latency}
	bodies := s.withLimits(now, failed)
	x := s.seat(t.Participant)
	reason := ""
	switch {
	case do.Code == FailExited:
		reason = "its process has ended: " + do.Error
	case do.Code == FailDenied, do.Code == FailUntrusted: // asking again changes nothing
		reason = do.Error
	case x.Failures+1 >= s.Limits.MaxFailures:
		reason = count(x.Failures+1, "failure") + " in a row: " + do.Error
	}
	if reason == "" || x.Standing != Active {
		return bodies, nil
	}
	if len(bodies) > 1 { // the room stops; the seat is suspended before that
		return append([]Body{failed, SeatChanged{x.ID, Suspended, reason}}, bodies[1:]...), nil
	}
	return s.withSeatChange(bodies, x, Suspended, reason), nil
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
	FailDenied      = "denied"      // by the rules of either side
	FailUntrusted   = "untrusted"   // its device has other keys, or is paired no more
	FailUnreachable = "unreachable" // its device does not answer
	FailLimited     = "limited"     // a limit of shared calls
	FailInterrupted = "interrupted" // its device was started again, or it is, as restart: N allows
	FailHeld        = "held"        // nothing left: a pause that changed nothing had cancelled it
)

// withLimits adds to the end of a turn the end of the room that it causes.
func (s *State) withLimits(now Now, last Body) []Body {
	after := s.Tally
	texts := s.Texts
	switch b := last.(type) {
	case MessagePosted:
		after.Failures = 0
		if s.Turn != nil && s.Turn.Draft == nil {
			s.projectCharge(&after, b.Usage, b.Message.Text)
		}
		if b.Message.By == "" {
			texts = append(texts[:len(texts):len(texts)], fingerprint(b.Message.Text))
		}
		if guard := s.loopGuard(texts); guard != "" {
			return []Body{last, Stopped{Cause: CauseLoop, Name: guard, Reason: "loop " + guard + ": the same text again and again"}}
		}
	case TurnPassed:
		after.Failures = 0
		s.projectCharge(&after, b.Usage, "")
	case TurnFailed:
		after.Failures++
		s.projectCharge(&after, b.Usage, "")
	}
	name, reason := after.reached(s.Limits)
	if name == "" && now.Clock >= s.Limits.MaxDuration {
		name, reason = "maxDuration", "the room has run for "+now.Clock.String()
	}
	if name == "" || s.Phase != PhaseLive {
		return []Body{last}
	}
	return []Body{last, Stopped{Cause: CauseLimit, Name: name, Reason: "limit " + name + ": " + reason}}
}

// projectCharge charges the open turn to a copy of the tally.
func (s *State) projectCharge(t *Tally, u Usage, text string) {
	x := s.seat(s.Turn.Participant)
	tokens, in, out := charge(u, s.Turn.Tokens, text)
	t.Tokens += tokens
	t.Cost += cost(x.Price, in, out)
}

// loopGuard names the guard against loopGuard that the newest texts trip.
func (s *State) loopGuard(texts []uint64) string {
	if len(texts) == 0 {
		return ""
	}
	texts = texts[max(0, len(texts)-s.Limits.SameTextOf):]
	same := 0
	for _, h := range texts {
		if h == texts[len(texts)-1] {
			same++
		}
	}
	if same >= s.Limits.SameText {
		return "same-text"
	}
	return ""
}

// decidePosted adds a message that an agent raised beside its reply. Its
// sender is the seat, whatever the message says; it may lower its visibility
// and never raise it.
func (s *State) decidePosted(actor string, do Posted, now Now) ([]Body, error) {
	x := s.seat(actor)
	if x == nil || x.Standing != Active {
		return nil, deniedError(actor, "post messages")
	}
	if s.Phase != PhaseLive {
		return nil, deniedError(actor, "post while the room is "+string(s.Phase))
	}
	// Every message makes the policy think anew: an agent that never stops
	// would keep the floor from everybody.
	if x.SideMessages >= s.Limits.MaxInternal {
		return nil, invalidError("ROOM-ASIDES", x.ID+" has posted "+count(x.SideMessages, "message")+" beside its turn", "wait for the floor")
	}
	m := do.Message
	if m.Trace != nil && m.Trace.Hops > s.Limits.MaxHops {
		return nil, invalidError("ROOM-HOPS", "message has "+count(m.Trace.Hops, "hop")+", over the limit of "+itoa(s.Limits.MaxHops), "")
	}
	m.From, m.By, m.Source, m.Kind = x.ID, "", "agent", cleanReason(orDefault(m.Kind, KindUtterance))
	m.To, m.Text, m.Summary = orDefault(m.To, Broadcast), validUTF8(m.Text), cleanReason(m.Summary)
	m.Visibility = Visibility(orDefault(string(m.Visibility), string(UserVisible)))
	if x.Mode != FullAuto {
		return nil, deniedError(actor, "post beside its turn: its messages are reviewed by a person")
	}
	if x.TakenBy != "" {
		return nil, deniedError(actor, "post while "+x.TakenBy+" has its seat")
	}
	if done, err := s.isRepeat(m); done || err != nil {
		return nil, err
	}
	if err := s.checkAddress(m); err != nil {
		return nil, err
	}
	if len([]rune(m.Text)) > s.Limits.MaxOutput {
		return nil, invalidError("ROOM-SIZE", "the message is over the limit of "+itoa(s.Limits.MaxOutput)+" characters", "")
	}
	posted := MessagePosted{Message: s.completeMessage(m, 0, now), Auto: true}
	texts := append(s.Texts[:len(s.Texts):len(s.Texts)], fingerprint(m.Text))
	if guard := s.loopGuard(texts); guard != "" {
		return append(append([]Body{posted}, s.abandon("loop "+guard)...),
			Stopped{Cause: CauseLoop, Name: guard, Reason: "loop " + guard + ": the same text again and again"}), nil
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
	v := Violation{Participant: do.Participant, Code: cut(validUTF8(do.Code), 64), Detail: cut(validUTF8(do.Detail), 500), Count: 1}
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
	if t := s.Turn; t != nil && t.Participant == x.ID && !t.Forgot || !x.NeedsFullContext {
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
