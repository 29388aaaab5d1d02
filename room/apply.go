package room

import (
	"time"

	"github.com/folkmoot/moot/room/kinds"

	"github.com/folkmoot/moot/policies/policy"
)

// Apply folds e into s. It is total: it never fails, and its effect depends only
// on s and e. The body of an event counts only if the room is open, and that of its
// opening only if it is not; see [State.Follows].
func (s *State) Apply(e Event) {
	s.Seq = e.Seq
	s.Clock = max(s.Clock, e.Clock)
	s.Epoch = max(s.Epoch, e.Epoch)
	s.Commands.add(e.Command, e.Seq)
	if _, opens := e.Body.(Opened); opens == (s.Phase == PhaseUnopened) {
		s.applyBody(e)
	}
}

func (s *State) applyBody(e Event) {
	if s.Spec.Call != nil {
		s.noteReturn(e)
	}
	s.watchLoops(&s.Loops, e.Body) // before the turn that it ends
	switch b := e.Body.(type) {
	case Opened:
		s.applyOpened(b)
	case Claimed:
		s.applyClaimed(e)
	case Joined:
		s.applyJoined(e, b)
		return
	case SeatChanged:
		s.applyStanding(e, b)
	case SeatTaken:
		s.setTakenBy(e, b.Participant, b.By)
	case SeatReleased:
		s.setTakenBy(e, b.Participant, "")
	case ModeChanged:
		s.applyMode(b)
	case SeatForgot:
		s.applyForgot(e, b)
	case SeatReady:
		s.applyReady(e, b)
	case SeatFailed:
		s.applySeatFailed(e, b)
	case PresenceChanged:
		s.applyPresence(e, b)
	case BudgetChanged:
		s.applyBudget(e, b)
	case PolicyChanged:
		s.Policy = PolicyCursor{Ref: b.Policy, Decision: s.Policy.Decision}
		s.Bids = nil
		s.addNews(e, "policy changed to "+b.Policy.Name)
	case LimitsChanged:
		s.Limits = b.Limits.orDefaults(s.Spec.OneToOne)
	case BidPosted:
		s.Bids = append(s.Bids[:len(s.Bids):len(s.Bids)], b)
	case RoundDeclined:
		s.applyDeclined(e, b)
	case TurnGranted:
		s.applyGranted(e, b)
	case HandoffAsked:
		s.applyHandOff(b)
	case TurnDrafted:
		s.applyDrafted(e, b)
	case TurnEdited:
		s.applyEdited(e, b)
	case TurnApproved:
		s.addAnswer(e, b.Draft, "approved")
	case TurnRejected:
		s.addAnswer(e, b.Draft, rejection(e))
		s.endTurn(e, b.Turn, "draft rejected")
	case TurnPassed:
		s.applyPassed(e, b)
	case TurnFailed:
		s.applyFailed(e, b)
	case TurnInterrupted:
		s.applyInterrupted(e, b)
	case PermissionAsked:
		s.applyAsked(e, b)
	case PermissionAnswered:
		s.applyAnswered(e, b)
	case Violation:
		if x := s.seat(b.Participant); x != nil {
			x.Violations += b.Count
		}
	case MessagePosted:
		s.applyPosted(e, b)
	case PlanChanged:
		s.applyPlan(e, b)
	case MessageAcked, MessageReleased, AckMissed, MessageDead:
		s.applyMail(e)
	case PayloadStored:
		s.applyPayload(e, b)
	case Paused:
		s.end(PhasePaused, b.Cause, b.Code, b.Reason)
		if b.Record != nil {
			s.Ending.Fix = b.Record.Fix
		}
		s.addNote(e, "", policy.KindSystem, "paused: "+b.Reason)
	case Resumed:
		s.applyResumed(e)
	case Stopped:
		s.end(PhaseStopped, b.Cause, b.Name, b.Reason)
	case Completed:
		s.end(PhaseCompleted, b.Cause, "", b.Reason)
		s.Ending.Degraded = b.Degraded
		s.applyRecord(b.Record)
	case Errored:
		s.end(PhaseError, "", b.Code, b.Reason)
	case CallStarted:
		s.applyCallStarted(e, b)
	case CallChanged:
		s.applyCallChanged(e, b)
	case CallEnded:
		s.applyCallEnded(e, b)
	}
	if s.matcher == nil && len(s.Seats) > 0 {
		s.matcher = s.compileNames() // once, after the participants that join together
	}
}

func (s *State) applyOpened(b Opened) {
	s.Spec = b.Spec
	s.Limits = b.Spec.Limits.orDefaults(b.Spec.OneToOne)
	s.Bounds = b.Spec.Context.orDefaults()
	s.Policy = PolicyCursor{Ref: b.Spec.Policy}
	s.Phase = PhaseLive
	s.Followed = map[uint64]int32{}
	s.Counts = []int32{0}
}

// applyClaimed starts an epoch, in which all agents are new processes. A running
// session is none: it keeps its memory, and is away until it awaits its turn again.
func (s *State) applyClaimed(e Event) {
	for _, x := range s.Seats {
		s.requeue(e, x, "the room was opened again")
		x.NeedsFullContext = x.NeedsFullContext || !x.Session
		if x.Session {
			x.Presence = Away
		}
		x.mustStart(e)
	}
}

func (s *State) applyJoined(e Event, b Joined) {
	x := s.seat(b.Participant.ID)
	if x == nil {
		x = &Seat{Index: int16(len(s.Seats)), Counts: map[int16]int32{}}
		s.Seats = append(s.Seats, x)
		s.Counts = append(s.Counts, 0)
	}
	x.Participant, x.Standing, x.NeedsFullContext = b.Participant, Active, true
	if x.Session {
		x.Presence = Away
	}
	x.mustStart(e)
	s.matcher = nil
	s.addNews(e, x.ID+" joined")
}

func (s *State) applyStanding(e Event, b SeatChanged) {
	x := s.seat(b.Participant)
	if x == nil {
		return
	}
	x.Standing, x.Why, x.Fault = b.Standing, b.Reason, ""
	if b.Failed {
		x.Fault = b.Reason
	}
	if b.Standing == Active {
		x.Why = ""
		x.Failures, x.Violations, x.NeedsFullContext = 0, 0, true
		s.requeue(e, x, "the seat is active again")
		x.mustStart(e)
	}
	s.addNews(e, x.ID+" is now "+string(b.Standing))
}

// setTakenBy gives a seat to a person or, without an owner, back to its agent,
// which needs the messages that the person has read.
func (s *State) setTakenBy(e Event, id, owner string) {
	if x := s.seat(id); x != nil {
		x.TakenBy = owner
		if owner == "" {
			x.NeedsFullContext = true
			s.requeue(e, x, "its agent has the seat again")
			x.mustStart(e)
		}
	}
}

// applyForgot marks the seat for a full window. If it has the open turn, it may
// have forgotten before or after the prompt, so the mark survives that turn.
func (s *State) applyForgot(e Event, b SeatForgot) {
	if x := s.seat(b.Participant); x != nil {
		x.NeedsFullContext = true
		s.requeue(e, x, "its agent has lost its memory")
	}
	if t := s.Turn; t != nil && t.Participant == b.Participant {
		t.Forgot = true
	}
}

func (s *State) applyResumed(e Event) {
	s.Phase, s.Ending = PhaseLive, Ending{}
	s.Tally.Declines, s.Tally.Failures = 0, 0
	s.RetryAt = 0
	s.addNote(e, "", policy.KindSystem, "resumed")
}

// end leaves the live phase.
func (s *State) end(p Phase, cause, name, reason string) {
	s.Phase, s.Ending = p, Ending{Cause: cause, Name: name, Reason: reason}
	if p != PhasePaused {
		s.restoreModes()
	}
}

// addNews records a change after which the policy is asked at once.
func (s *State) addNews(e Event, text string) {
	s.addNote(e, "", policy.KindSystem, text)
	s.LastNews = e.Seq
}

// addNote adds an event that is no message to the events that policies see.
func (s *State) addNote(e Event, from, kind, text string) {
	turn := 0
	if s.Turn != nil {
		turn = s.Turn.Number
	}
	s.Recent.push(policy.Event{Seq: e.Seq, Turn: turn, From: from, Kind: kind, Text: text, Bytes: len(text)})
}

// applyRecord moves the policy's cursor to the decision that r records. After a
// failed decision r is nil, and the cursor stays.
func (s *State) applyRecord(r *policy.Record) {
	if r == nil {
		return
	}
	p := &s.Policy
	p.Asked, p.Decision, p.Through, p.Replaced = true, r.Decision, r.Through, ""
	switch {
	case r.State == "":
		p.State, p.Digest, p.Lost = nil, "", false
	case r.StateJSON != nil:
		p.State, p.Digest, p.Lost = r.StateJSON, r.State, false
	case r.State != p.Digest:
		p.State, p.Digest, p.Lost = nil, r.State, true
	}
	s.Bids = nil
}

// SetPolicyState sets a policy state of which the log has only the digest; see
// [PolicyCursor.Lost]. The caller has it from the policy, or has computed it again.
func (s *State) SetPolicyState(state policy.JSON) {
	s.Policy.State, s.Policy.Lost = state, false
}

func (s *State) applyDeclined(e Event, b RoundDeclined) {
	s.applyRecord(RecordOf(e))
	s.Tally.Declines++
	s.Tally.Declined++
	s.Declined = e.Seq
	s.RetryAt = e.Clock + b.Retry
	s.addNote(e, "", policy.KindDecline, b.Reason)
	s.Recent.last().Silent = b.Silent
}

func (s *State) applyGranted(e Event, b TurnGranted) {
	s.applyRecord(b.Record)
	if b.Exploration.Replaced(b.Participant) {
		s.Policy.Replaced = b.Exploration.Choice
	}
	s.Tally.Turns++
	s.Tally.Declines = 0
	s.Mail.TurnPosts = 0
	s.Handoff, s.Request = nil, false
	s.Turn = &Turn{
		Number: b.Turn, Participant: b.Participant, Request: b.Request, Window: b.Window, Hints: b.Hints, Prompt: b.Prompt, Epoch: e.Epoch,
		Tokens: b.Tokens, Left: b.Left, Started: e.Clock, Timeout: b.Timeout, Exploration: b.Exploration,
	}
	if x := s.seat(b.Participant); x != nil {
		x.Turns++
		x.LastTurn, x.SideMessages = b.Turn, 0
	}
}

func (s *State) applyDrafted(e Event, b TurnDrafted) {
	if s.Turn == nil || s.Turn.Number != b.Turn {
		return
	}
	s.noteAnswered(e, nil)
	s.Turn.Draft = &Draft{Hash: b.Draft, Message: b.Message, Usage: b.Usage, Why: b.Why, Latency: b.Latency, At: e.At, Since: e.Clock}
	if x := s.seat(s.Turn.Participant); x != nil {
		s.charge(x, b.Usage, s.Turn.Tokens, b.Message.Text, b.Message.toolCalls())
	}
}

func (s *State) applyEdited(e Event, b TurnEdited) {
	if s.Turn == nil || s.Turn.Draft == nil || s.Turn.Number != b.Turn {
		return
	}
	d := *s.Turn.Draft
	s.addAnswer(e, d.Hash, "edited")
	d.Hash, d.Message.Text, d.Edited, d.At, d.Since = b.Draft, b.Text, true, e.At, e.Clock
	s.Turn.Draft = &d
}

func (s *State) applyPassed(e Event, b TurnPassed) {
	if t := s.Turn; t != nil && t.Number == b.Turn {
		s.noteAnswered(e, nil)
		s.keepHandOff(t)
		s.Tally.Passed++
		if x := s.seat(t.Participant); x != nil {
			x.Passed++
			s.finishServed(e, x, t, b.Latency)
			s.charge(x, b.Usage, t.Tokens, "", b.ToolCalls)
			x.Confidence = nil // the stated confidence belongs to a message
		}
	}
	text := "passed"
	if b.Reason != "" {
		text += ": " + b.Reason
	}
	if t := s.Turn; t != nil && t.Number == b.Turn {
		s.endTurn(e, b.Turn, text)
		if b.Silent {
			s.Recent.last().Silent = []string{t.Participant}
		}
	}
}

func (s *State) applyFailed(e Event, b TurnFailed) {
	t := s.Turn
	if t == nil || t.Number != b.Turn {
		return
	}
	s.Tally.Failures++
	s.Tally.Errors++
	x := s.seat(t.Participant)
	if x != nil {
		x.Failures++
		x.Failed++
		x.NeedsFullContext = x.NeedsFullContext || b.Code == FailInterrupted // the restarted agent has no memory
		s.charge(x, b.Usage, t.Tokens, "", b.ToolCalls)
		s.addNote(e, x.ID, policy.KindError, b.Code+": "+b.Error)
		if lostRequest(b.Code) {
			x.mustStart(e)
		}
	}
	s.LastNews = e.Seq
	s.closeTurn(e)
}

// applyInterrupted ends a turn. An agent that was at work on it has to be seen to
// run: it may still answer, or end.
func (s *State) applyInterrupted(e Event, b TurnInterrupted) {
	if t := s.Turn; t != nil && t.Number == b.Turn && s.inFlight() && s.agentHas(t) {
		x := s.seat(t.Participant)
		x.mustStart(e)
		if b.Tokens > 0 {
			s.charge(x, Usage{}, b.Tokens, "", 0)
		}
	}
	s.endTurn(e, b.Turn, "interrupted: "+b.Reason)
}

// closeTurn closes the open turn. An agent that ended while its draft waited is
// started only now.
func (s *State) closeTurn(e Event) {
	if x := s.seat(s.Turn.Participant); x != nil && x.Starting != 0 {
		x.mustStart(e)
	}
	s.unwait(s.Turn.Number)
	s.Turn = nil
}

// endTurn closes the turn without a message.
func (s *State) endTurn(e Event, turn int, text string) {
	if s.Turn == nil || s.Turn.Number != turn {
		return
	}
	s.addNote(e, s.Turn.Participant, policy.KindSystem, text)
	s.LastNews = e.Seq
	s.closeTurn(e)
}

// finishServed records that a seat has had its window, and moves its cursor.
func (s *State) finishServed(e Event, x *Seat, t *Turn, latency time.Duration) {
	x.Cursor = max(x.Cursor, t.Window.Through)
	s.noteDelivered(e, x, t)
	x.NeedsFullContext = t.Forgot
	x.Failures = 0
	x.Replies++
	x.Latency += latency
	s.Tally.Failures = 0
}

func (s *State) charge(x *Seat, u Usage, prompt int64, text string, tools int) {
	c := chargeOf(x.Price, u, prompt, text)
	x.add(c)
	s.Tally.add(c)
	if x.Budget != (Budget{}) {
		x.ToolCalls += tools
	}
}

func (s *State) applyPosted(e Event, b MessagePosted) {
	m := b.Message
	x := s.seat(m.From)
	if m.Kind == kinds.CallResult {
		x = nil // its sender has spoken in another room
		s.noteTold(m)
	}
	s.awaitIdle(m)
	s.noteSteering(e, m)
	human := m.Kind != kinds.CallResult && m.From != ActorRoom && (x == nil || x.Kind == policy.Human || m.By != "")
	s.index(e, m, x)
	s.deliver(e, b)
	if b.HeldUntil == 0 {
		s.addRecent(e, m, human)
		s.LastNews = e.Seq
	} else {
		s.noteHeld(e, m)
	}
	if !s.ownID(m.ID) {
		s.Commands.add(m.ID, e.Seq)
		s.Commands.addContent(m.ID, m.contentHash())
	}
	s.Tally.Messages++
	if m.Visibility == Internal {
		s.Mail.Internal++
	}
	if human {
		if s.Spec.Explore > 0 && (len(m.Addressed) > 0 || m.To != "" && m.To != Broadcast) {
			s.Request = true
		}
		s.Tally.Declines = 0
		if s.Phase == PhaseCompleted && s.Ending.Cause == CauseSettled {
			s.Phase, s.Ending = PhaseLive, Ending{}
		}
	} else if x != nil {
		if b.Turn == 0 {
			s.countRates(e, m)
		}
		switch {
		case b.Turn != 0:
		case s.hasTurn(x):
			s.Mail.TurnPosts++
		default:
			x.SideMessages++
		}
		s.Texts = append(s.Texts[max(0, len(s.Texts)-s.Limits.SameTextOf+1):len(s.Texts):len(s.Texts)], fingerprint(m.content()))
	}
	if t := s.Turn; t != nil && b.Turn == t.Number && x != nil {
		s.noteAnswered(e, &m)
		s.keepHandOff(t)
		if t.Draft == nil {
			s.charge(x, b.Usage, t.Tokens, m.Text, m.toolCalls())
		}
		s.finishServed(e, x, t, b.Latency)
		x.Confidence = m.Confidence
		x.NeedsFullContext = t.Forgot || t.Draft != nil && t.Draft.Edited // its memory differs from the posted text
		s.closeTurn(e)
	}
}

// addRecent adds a message to the events that policies see. It withholds the text
// of a message that not every participant may read.
func (s *State) addRecent(e Event, m Message, human bool) {
	if m.Kind == kinds.CallResult {
		s.addNote(e, "", policy.KindSystem, m.From+" has returned the result of a call to "+m.To)
		return
	}
	kind := policy.KindMessage
	if human {
		kind = policy.KindHuman
	}
	ev := policy.Event{Seq: e.Seq, Turn: m.Turn, From: m.From, Kind: kind, Mentions: m.Mentions, Addressed: m.Addressed, Bytes: len(m.Text)}
	if m.To != "" && m.To != Broadcast {
		ev.To = []string{m.To}
	}
	switch m.Visibility {
	case Internal:
	case UserRedacted:
		ev.Text = m.Summary
	default:
		ev.Text = m.Text
	}
	s.Recent.push(ev)
}
