package room

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/delivery"
	"github.com/folkmoot/moot/room/kinds"
)

// Ack is an act of a participant: it has taken note of a message that was addressed to
// it, or to everybody.
type Ack struct{ Message string }

func (Ack) act() {}

// Bodies of events about messages between participants.
type (
	// MessageAcked records that a participant has acknowledged a message.
	MessageAcked struct {
		Message     string `json:"message_id"`
		Target      int64  `json:"target"` // seq of the message
		Participant string `json:"participant"`
	}
	// MessageReleased ends the hold of a message; see MessagePosted.HeldUntil.
	MessageReleased struct {
		Message     string `json:"message_id"`
		Target      int64  `json:"target"`
		Participant string `json:"participant"`
	}
	// AckMissed records that a participant has not acknowledged a message in time. The
	// message is delivered again. There is one for each attempt.
	AckMissed struct {
		Message     string `json:"message_id"`
		Target      int64  `json:"target"`
		Participant string `json:"participant"`
		Attempt     int    `json:"attempt"`
	}
	// MessageDead is a dead letter: a message that was not accepted, or one that
	// Participant never acknowledged. Nothing is done with it. Message is a bounded
	// copy; Target is 0 if the message was not accepted.
	MessageDead struct {
		Message     Message `json:"message"`
		Target      int64   `json:"target,omitempty"`
		Participant string  `json:"participant,omitempty"`
		Code        string  `json:"code"`
		Reason      string  `json:"reason"`
		Fix         string  `json:"fix,omitempty"`
		Content     string  `json:"content,omitempty"` // hash of the whole message, which tells a repetition
	}
)

// Type returns the stable name of the body.
func (MessageAcked) Type() string { return "message.acked" }

// Type returns the stable name of the body.
func (MessageReleased) Type() string { return "message.released" }

// Type returns the stable name of the body.
func (AckMissed) Type() string { return "ack.missed" }

// Type returns the stable name of the body.
func (MessageDead) Type() string { return "message.dead" }

// Bounds of messages that agents post in addition to their replies.
const (
	maxTurnPosts   = 200   // of one turn
	maxDead        = 1000  // dead letters that a room records
	listedDead     = 100   // that its state lists, the newest
	maxDeadCopy    = 2_000 // bytes of the copy of a text or payload
	maxDuesAtATime = 64    // events of one tick about deliveries
)

// Refusal returns why the room has refused the message that a command posted, or nil.
// events are those of the command.
func Refusal(events []Event) error {
	for _, e := range events {
		if b, ok := e.Body.(MessageDead); ok && b.Target == 0 {
			return b.problem()
		}
	}
	return nil
}

func (b MessageDead) problem() *problem.Error {
	err := &problem.Error{Code: b.Code, What: b.Reason, Fix: b.Fix}
	if b.Code == codeTaken {
		err.Kind = ErrTaken
	}
	return err
}

// decidePosted posts a message that an agent sends in addition to its replies. The
// sender is always the seat. A message that is malformed, or that the kind forbids,
// becomes a dead letter.
func (s *State) decidePosted(actor string, do Posted, now Now) ([]Body, error) {
	x := s.seat(actor)
	if err := s.mayPost(x, actor); err != nil {
		return nil, err
	}
	m := s.ofSeat(x, do.Message)
	if m.Kind == kinds.Ack {
		return s.decideAck(actor, m.Correlation)
	}
	m, bodies := s.withReference(m)
	if done, err := s.isRepeat(m); done || err != nil {
		return s.withDead(m, err)
	}
	if err := s.checkPost(x, m); err != nil {
		return s.withDead(m, err)
	}
	m.Receivers = s.broadcastTo(m)
	complete := s.completeMessage(m, 0, now)
	follows, err := s.withPlan(complete, do.Message.Payload, now)
	if err != nil {
		return s.withDead(m, err)
	}
	posted := MessagePosted{Message: complete, Auto: true}
	posted.HeldUntil, posted.Held = s.hold(m, now)
	bodies = append(append(bodies, posted), follows...)
	if stop := s.loopStop(m.content()); stop != nil {
		return append(append(bodies, s.abandon("loop "+stop.Name)...), *stop), nil
	}
	return bodies, nil
}

// mayPost refuses an actor that may not post outside its replies now.
func (s *State) mayPost(x *Seat, actor string) error {
	switch {
	case x == nil || x.Standing != Active:
		return deniedError(actor, "post messages")
	case s.Phase != PhaseLive:
		return deniedError(actor, "post while the room is "+string(s.Phase))
	case x.ModeNow() != FullAuto:
		return deniedError(actor, "post outside its turns: its messages are reviewed by a person")
	case x.TakenBy != "":
		return deniedError(actor, "post while "+x.TakenBy+" has its seat")
	case s.hasTurn(x) && s.Mail.TurnPosts >= maxTurnPosts:
		return invalidError("ROOM-ASIDES", x.ID+" has posted "+count(s.Mail.TurnPosts, "message")+" in this turn", "end the turn")
	case !s.hasTurn(x) && x.SideMessages >= s.Limits.MaxInternal:
		// Each message makes the policy decide again, so that an agent that never
		// stops would keep the floor from the others.
		return invalidError("ROOM-ASIDES", x.ID+" has posted "+count(x.SideMessages, "message")+" outside its turns", "wait for the floor")
	}
	return nil
}

// hasTurn reports whether the agent of x is at work on the open turn.
func (s *State) hasTurn(x *Seat) bool { return s.inFlight() && s.Turn.Participant == x.ID }

// ofSeat returns m as a message of the seat: the room knows its sender, and to whom a
// role belongs.
func (s *State) ofSeat(x *Seat, m Message) Message {
	m.From, m.By, m.Source, m.Kind = x.ID, "", SourceAgent, cleanReason(cmp.Or(m.Kind, KindUtterance))
	m.To, m.Text, m.Summary = s.resolve(cmp.Or(m.To, Broadcast)), validUTF8(m.Text), cleanReason(m.Summary)
	m.Payload = compacted(m.Payload)
	m.Tools, m.ToolsMore, m.Mentions, m.Addressed, m.FromSession, m.Applet = nil, 0, nil, nil, "", ""
	if m.Visibility == "" {
		if r, ok := kinds.Of(m.Kind); ok {
			m.Visibility = Visibility(r.Visibility)
		}
	}
	return s.narrated(x, m.withUrgency())
}

// resolve returns the id of the one active seat that has the role to, or to itself.
func (s *State) resolve(to string) string {
	if s.seat(to) != nil || to == Broadcast {
		return to
	}
	found := ""
	for _, x := range s.Seats {
		if x.Role != "" && strings.EqualFold(x.Role, to) && x.Standing != Removed {
			if found != "" {
				return to
			}
			found = x.ID
		}
	}
	return cmp.Or(found, to)
}

// checkPost says why the room does not accept a message of an agent.
func (s *State) checkPost(x *Seat, m Message) error {
	rule, known := kinds.Of(m.Kind)
	switch {
	case !known:
		return invalidError("ROOM-KIND", "no kind of messages "+quote(cut(m.Kind, maxID)), "use one of the kinds of docs/messages.md")
	case m.Trace != nil && m.Trace.Hops > s.Limits.MaxHops:
		return invalidError("ROOM-HOPS", "message has "+count(m.Trace.Hops, "hop")+", over the limit of "+itoa(s.Limits.MaxHops), "")
	case len([]rune(m.Text)) > s.Limits.MaxOutput:
		return invalidError("ROOM-SIZE", "the message is over the limit of "+itoa(s.Limits.MaxOutput)+" characters", "put it into a file and name that")
	case checkPayload(m.Payload) != nil:
		return checkPayload(m.Payload)
	case strings.TrimSpace(m.Text) == "" && strings.TrimSpace(m.Summary) == "" && len(m.Payload) == 0:
		return invalidError("ROOM-EMPTY", "the message says nothing", "give it a text, a summary or a payload")
	case m.Notify != "" && (m.Notify != NotifyIdle || m.To == Broadcast):
		return invalidError("ROOM-NOTIFY", "no notice "+quote(cut(validUTF8(m.Notify), maxID))+" of that message", "use idle, in a message to one participant")
	case !kinds.ValidPriority(m.Priority):
		return invalidError("ROOM-PRIORITY", "no priority "+quote(cut(validUTF8(m.Priority), maxID)), "use low, normal, high or urgent")
	case !validID(m.Correlation) || !validID(m.Parent) || !validID(m.Session) || !validID(m.Thread):
		return invalidError("ROOM-ID", "an id of the message cannot be kept", "use at most 128 printable characters")
	}
	if err := s.checkAddress(m); err != nil {
		return err
	}
	if !rule.Narrows(string(m.Visibility)) {
		return invalidError("ROOM-VISIBILITY", "a message of the kind "+m.Kind+" is at most "+rule.Visibility, "leave the visibility out, or narrow it")
	}
	return s.checkKind(rule, x, m)
}

// checkKind refuses a message whose kind does not allow its sender or its receiver.
func (s *State) checkKind(rule kinds.Rule, x *Seat, m Message) error {
	if m.To == x.ID {
		return invalidError("ROOM-SELF", x.ID+" has addressed itself", "address another participant")
	}
	var to kinds.Party
	switch {
	case m.To != Broadcast:
		to = s.seat(m.To).party()
	case len(s.broadcastTo(m)) > 0:
		to = rule.To
	default:
		to = kinds.People // they watch
	}
	if why := rule.Check(x.party(), to); why != "" {
		return invalidError("ROOM-KIND", why, "docs/messages.md has the table of kinds")
	}
	return nil
}

// party returns the groups of the seat in the table of kinds.
func (x *Seat) party() kinds.Party { return kinds.PartyOf(!x.Driven(), x.Role) }

// broadcastTo returns the agents to which a typed broadcast goes: each active one that
// the kind allows.
func (s *State) broadcastTo(m Message) []string {
	rule, _ := kinds.Of(m.Kind)
	if m.To != Broadcast || !kinds.Typed(m.Kind) {
		return nil
	}
	var ids []string
	for _, y := range s.Seats {
		if y.Driven() && y.Standing == Active && y.ID != m.From && rule.To&y.party() != 0 {
			ids = append(ids, y.ID)
		}
	}
	return ids
}

// withDead returns the dead letter of a message that is refused with err; nil if it is
// a repetition. Beyond maxDead dead letters only the sender is told.
func (s *State) withDead(m Message, err error) ([]Body, error) {
	coded, ok := err.(*problem.Error)
	if err == nil || !ok || s.Mail.DeadCount >= maxDead {
		return nil, err
	}
	return []Body{MessageDead{
		Message: m.bounded(), Code: coded.Code, Reason: cleanReason(coded.What), Fix: coded.Fix, Content: strconv.FormatUint(m.contentHash(), 16),
	}}, nil
}

// bounded returns the copy of a message that a dead letter keeps.
func (m Message) bounded() Message {
	m.Text, m.Kind, m.To = cut(m.Text, maxDeadCopy), cut(m.Kind, maxID), cut(validUTF8(m.To), maxID)
	m.ID, m.Priority = cut(validUTF8(m.ID), maxID), cut(validUTF8(m.Priority), maxID)
	m.Session, m.Thread, m.Correlation, m.Parent = cut(validUTF8(m.Session), maxID), cut(validUTF8(m.Thread), maxID), cut(validUTF8(m.Correlation), maxID), cut(validUTF8(m.Parent), maxID)
	m.Visibility, m.Trace = Internal, nil
	if len(m.Payload) > maxDeadCopy || checkPayload(m.Payload) != nil {
		m.Payload = nil
	}
	return m
}

// decideAck records an acknowledgement. Those of unknown messages and of messages to
// others are refused; a second one changes nothing.
func (s *State) decideAck(actor, message string) ([]Body, error) {
	if s.seat(actor) == nil {
		return nil, deniedError(actor, "acknowledge messages")
	}
	d := s.Mail.Deliveries.Find(message, actor)
	switch {
	case message == "" || d == nil:
		return nil, invalidError("ROOM-ACK", "no message "+quote(cut(validUTF8(message), maxID))+" to "+actor, "acknowledge a message of your own inbox by its message_id")
	case d.State == delivery.Acked:
		return nil, nil
	case d.State == delivery.Expired:
		return nil, invalidError("ROOM-ACK", "the message "+quote(message)+" has expired: "+d.Reason, "answer its sender with a new message")
	}
	return []Body{MessageAcked{Message: message, Target: d.Seq, Participant: actor}}, nil
}

// decideDues returns the events about deliveries that are due: held messages to be
// released, and acknowledgements that were missed.
func (s *State) decideDues(now Now) []Body {
	var bodies []Body
	for _, d := range s.Mail.Deliveries.Due(now.Clock, s.Limits.AckTimeout) {
		switch {
		case len(bodies) >= maxDuesAtATime:
			return bodies
		case d.State == delivery.Held:
			bodies = append(bodies, MessageReleased{Message: d.Message, Target: d.Seq, Participant: d.To})
		default:
			bodies = append(bodies, AckMissed{Message: d.Message, Target: d.Seq, Participant: d.To, Attempt: d.Attempts + 1})
			if d.Attempts+1 >= s.Limits.MaxAckAttempts {
				bodies = append(bodies, s.expired(d))
			}
		}
	}
	return bodies
}

// expired returns the dead letter of a message that was never acknowledged.
func (s *State) expired(d delivery.Delivery) MessageDead {
	return MessageDead{
		Message: Message{ID: d.Message, Run: s.Spec.Room, From: d.From, To: d.To, Kind: d.Kind, Priority: d.Priority, RequiresAck: true, Visibility: Internal},
		Target:  d.Seq, Participant: d.To, Code: "ROOM-ACK-EXPIRED",
		Reason: "not acknowledged after " + count(s.Limits.MaxAckAttempts, "attempt"),
	}
}

// checkTalk refuses a person's message of a kind that only agents, or the room, send.
func (m Message) checkTalk() error {
	if m.Kind == KindUtterance || m.Kind == KindRequest {
		return nil
	}
	return invalidError("ROOM-KIND", "people send messages of the kinds utterance and request, and not "+quote(cut(m.Kind, maxID)), "leave the kind out")
}
