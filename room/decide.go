package room

import (
	"errors"
	"strconv"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
)

// Decide returns the events that record c, or an error that says why c is not
// allowed. No events and no error mean that c changes nothing. Decide does not
// change s.
func (s *State) Decide(c Command, now Now) ([]Event, error) {
	if s.Commands.has(c.ID) {
		return nil, nil
	}
	if !validID(c.ID) {
		return nil, invalidError("ROOM-ID", "the command's id cannot be kept", "use at most 128 printable characters")
	}
	if _, ok := c.Do.(Open); !ok && s.Phase == PhaseUnopened {
		return nil, invalidError("ROOM-UNOPENED", "the room has not been opened", "")
	}
	bodies, err := s.decide(c, now)
	if err != nil || len(bodies) == 0 {
		return nil, err
	}
	return s.stamp(c, now, s.withCalls(s.withAnswers(s.withLoops(s.withFinal(s.withReturn(bodies)))))), nil
}

// maxVia is the largest length of Event.Via in bytes.
const maxVia = 32

// stamp puts bodies into envelopes.
func (s *State) stamp(c Command, now Now, bodies []Body) []Event {
	epoch := s.Epoch
	if _, ok := c.Do.(Claim); ok {
		epoch++
	}
	evs := make([]Event, len(bodies))
	for i, b := range bodies {
		seq := s.Seq + int64(i) + 1
		evs[i] = Event{
			V: FormatVersion, Seq: seq, Actor: actorOf(b, c.Actor), Command: c.ID, Via: cut(validUTF8(c.Via), maxVia),
			Epoch: epoch, At: now.Wall.UTC(), Clock: max(s.Clock, now.Clock), Body: b,
		}
		// Two processes that claim the same epoch differ in their random
		// command ids, and therefore in all their event ids.
		evs[i].ID = strconv.FormatUint(epoch, 10) + "." + strconv.FormatInt(seq, 10)
		if c.ID != "" {
			evs[i].ID += "." + c.ID
		}
	}
	return evs
}

// actorOf returns the actor of an event. Events that follow from the room's own
// rules have the actor room, not the author of the last command.
func actorOf(b Body, actor string) string {
	switch b := b.(type) {
	case Stopped:
		if b.Cause != CausePerson {
			return ActorRoom
		}
	case Completed:
		if b.Cause == CauseSettled || b.Cause == CauseReturned || b.Cause == CauseFinalResponse {
			return ActorRoom
		}
	case SeatChanged:
		if b.Failed {
			return ActorRoom
		}
	case MessageReleased, AckMissed, BudgetChanged:
		return ActorRoom
	case MessageDead:
		if b.Target != 0 {
			return ActorRoom
		}
	case MessagePosted: // the objective, after the policy has declined
		if actor == ActorPolicy {
			return ActorRoom
		}
	case PermissionAnswered:
		if b.By != actor {
			return ActorRoom
		}
	case Errored, CallChanged, CallEnded:
		return ActorRoom
	}
	return actor
}

func (s *State) decide(c Command, now Now) ([]Body, error) {
	switch do := c.Do.(type) {
	case Open:
		return s.decideOpen(do)
	case Claim:
		return s.decideClaim(do, now)
	case Say:
		return s.decideSay(c.Actor, do, now)
	case Pause, Resume, Stop, Complete:
		return s.decideRun(c)
	case TakeOver, Release:
		return s.decideSeat(c)
	case Approve, Edit, Reject:
		return s.decideDraft(c, now)
	case Permit:
		return s.decidePermit(c.Actor, do, now)
	case SetMode:
		return s.decideMode(c.Actor, do)
	case Next:
		return s.decideNext(c.Actor, do, now)
	case Join:
		return s.decideJoin(c.Actor, do.Participant)
	case SetStanding, Redact:
		return s.decideModeration(c)
	case SetPolicy:
		return s.decidePolicy(c.Actor, do)
	case SetLimits:
		return s.decideLimits(c.Actor, do, now)
	case Decided:
		return s.decideDecided(do, now)
	case PolicyFailed:
		return s.decidePolicyFailed(do.Record)
	case BidMade:
		return s.decideBid(do)
	case Replied:
		return s.decideReplied(do, now)
	case Failed:
		return s.decideFailed(do, now)
	case HandOff:
		return s.decideHandOff(c.Actor, do)
	case Ack:
		return s.decideAck(c.Actor, do.Message)
	case ClaimTask:
		return s.decideClaimTask(c.Actor, do, now)
	case Posted:
		return s.decidePosted(c.Actor, do, now)
	case Violated:
		return s.decideViolated(do)
	case Started:
		return s.decideStarted(do)
	case Exited:
		return s.decideExited(do), nil
	case Asked:
		return s.decideAsked(c.Actor, do)
	case Withdrawn:
		return s.decideWithdrawn(c.Actor, do), nil
	case Present:
		return s.decidePresent(do)
	case Answered:
		return s.decideAnswered(do, now)
	case Measured:
		return s.decideMeasured(do), nil
	case Forgot:
		return s.decideForgot(do), nil
	case Broken:
		return s.decideBroken(do)
	case CallAgents:
		return s.decideCalls(c.Actor, do, now)
	case AwaitCall:
		return s.decideAwait(c.Actor, do, now)
	case CancelCall:
		return s.decideCancelCall(c.Actor, do)
	case CallProgressed:
		return s.decideProgressed(do)
	case CallReturned:
		return s.decideReturned(do, now)
	case GiveTask:
		return s.decideTask(do, now)
	case Serve:
		return s.decideServe(do, now)
	case ReplyTo:
		return s.decideReplyTo(do, now)
	case Tick:
		return s.decideTick(now)
	}
	return nil, invalidError("ROOM-COMMAND", "unknown command", "")
}

// reservedIDs returns the ids that no participant may have.
func reservedIDs() map[string]bool {
	return map[string]bool{ActorRoom: true, ActorHost: true, ActorPolicy: true, Broadcast: true}
}

func (s *State) decideOpen(do Open) ([]Body, error) {
	if s.Phase != PhaseUnopened {
		return nil, invalidError("ROOM-EXISTS", "room "+quote(s.Spec.Room)+" exists", "open it with its id")
	}
	bodies := []Body{Opened{do.Spec}}
	ids := reservedIDs()
	driven := 0
	for _, p := range do.Participants {
		if p.ID == "" || ids[p.ID] {
			return nil, invalidError("ROOM-ID", "participant id "+quote(p.ID)+" is empty, reserved or taken", "choose another id")
		}
		ids[p.ID] = true
		if p.Kind != policy.Human && !p.Caller {
			driven++
		}
		bodies = append(bodies, Joined{p})
	}
	if driven == 0 {
		return nil, invalidError("ROOM-NOBODY", "no participant can be given the floor", "add an agent to participants")
	}
	return bodies, nil
}

// decideClaim starts an epoch. A turn in flight ended with the process that had
// started it, and is interrupted instead of repeated, unless its request goes on.
// A room that a crash pauses interrupts the turn of a session, as every pause does.
func (s *State) decideClaim(do Claim, now Now) ([]Body, error) {
	bodies := []Body{Claimed{Owner: do.Owner, Restart: do.Restart}}
	pauses := do.Restart && s.Phase == PhaseLive && s.Spec.OnRestart != RestartContinue
	goesOn := s.inFlight() && (s.answersByRequest(s.Turn) || s.sessionHas(s.Turn) && !pauses)
	if s.inFlight() && (do.Restart || s.agentHas(s.Turn)) && !goesOn { // a person's turn is not interrupted by a restart
		bodies = append(bodies, TurnInterrupted{Turn: s.Turn.Number, Reason: "the host ended", Tokens: s.interruptedTokens()})
		bodies = append(bodies, s.untold(s.Turn.Number, now)...)
	}
	if pauses {
		bodies = append(bodies, Paused{Cause: CauseInterrupted, Reason: "interrupted: the host ended while the room was live"})
	}
	return bodies, nil
}

// MayMove reports whether a claim that is no restart interrupts nothing now: no agent works
// on a turn, or one whose request goes on, and no call is open.
func (s *State) MayMove() bool {
	return s.Phase != PhaseLive || !s.CallsOpen() && s.Spec.Call == nil &&
		(!s.inFlight() || !s.agentHas(s.Turn) || s.answersByRequest(s.Turn) || s.sessionHas(s.Turn))
}

// sessionHas reports whether a running session has the turn. It answers by the id of its
// request, to whichever process runs the room.
func (s *State) sessionHas(t *Turn) bool {
	x := s.seat(t.Participant)
	return x != nil && x.Session && x.Standing == Active && s.agentHas(t)
}

// answersByRequest reports whether the agent that has the turn may get the same
// request again. Another device keeps its answer by the id of the request, so the
// turn survives the end of the host.
func (s *State) answersByRequest(t *Turn) bool {
	x := s.seat(t.Participant)
	return x != nil && x.Device != "" && !x.Session && x.Standing == Active && s.agentHas(t)
}

func (s *State) decideBroken(do Broken) ([]Body, error) {
	if s.Phase == PhaseCompleted || s.Phase == PhaseStopped || s.Phase == PhaseError {
		return nil, nil
	}
	return append(s.abandon("the room cannot go on"), Errored(do)), nil
}

// inFlight reports whether an agent is working on the open turn.
func (s *State) inFlight() bool { return s.Turn != nil && s.Turn.Draft == nil }

// abandon ends the open turn of an agent or a person, because the room is about
// to end.
func (s *State) abandon(reason string) []Body {
	if s.Turn == nil {
		return nil
	}
	return []Body{TurnInterrupted{Turn: s.Turn.Number, Reason: reason, Tokens: s.interruptedTokens()}}
}

// interruptSeat ends the open turn if x has it.
func (s *State) interruptSeat(x *Seat, reason string) []Body {
	if s.Turn == nil || s.Turn.Participant != x.ID {
		return nil
	}
	return s.abandon(reason)
}

// interrupt ends the open turn if an agent is working on it. A draft is not in
// flight and remains.
func (s *State) interrupt(reason string) []Body {
	if !s.inFlight() {
		return nil
	}
	return s.abandon(reason)
}

// Errors that callers of Decide branch on.
var (
	// ErrStale: the room has changed since the policy was asked; ask it again.
	ErrStale = errors.New("room: decision is stale")
	// ErrLate: the request that the reply answers has ended.
	ErrLate = errors.New("room: reply is late")
	// ErrOver: the room has ended for good.
	ErrOver = errors.New("room: has ended")
	// ErrTaken: the id belongs to another message or command.
	ErrTaken = errors.New("room: id is taken")
	// ErrAnswered: another answer came first; it is the one that counts.
	ErrAnswered = errors.New("room: answered already")
	// ErrDenied: the actor may not do that.
	ErrDenied = errors.New("room: denied")
)

func deniedError(actor, what string) error {
	return &problem.Error{
		Code: "ROOM-DENIED", What: quote(actor) + " may not " + what,
		Fix: "act as a person of the room or as its host", Kind: ErrDenied,
	}
}

func endedError(s *State) error {
	return &problem.Error{
		Code: "ROOM-OVER", What: "the room is " + string(s.Phase) + ": " + s.Ending.Reason,
		Fix: "start another room; `moot transcript export` has what was said", Kind: ErrOver,
	}
}

// codeTaken is the code of ErrTaken.
const codeTaken = "ROOM-ID-TAKEN"

func takenError(id string) error {
	return &problem.Error{
		Code: codeTaken, What: "id " + quote(id) + " belongs to another message or command",
		Fix: "give every message an id of its own; repeat one only with the same text", Kind: ErrTaken,
	}
}

func invalidError(code, what, fix string) error {
	return &problem.Error{Code: code, What: what, Fix: fix}
}

func quote(s string) string { return "\"" + s + "\"" }
