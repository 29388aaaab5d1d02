package room

import (
	"slices"
	"strconv"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room/delivery"
	"github.com/folkmoot/moot/room/kinds"
	"github.com/folkmoot/moot/room/plan"
)

// Mail is the part of a room's state about messages between participants.
type Mail struct {
	Deliveries delivery.Ledger `json:"deliveries,omitzero"`
	Dead       []DeadLetter    `json:"dead,omitempty"` // the newest
	DeadCount  int             `json:"dead_count,omitempty"`
	Payloads   []storedPayload `json:"payloads,omitempty"`   // oldest first
	TurnPosts  int             `json:"turn_posts,omitempty"` // messages posted in the open turn by its agent
	Rates      delivery.Rates  `json:"rates,omitempty"`      // of messages between agents
	Awaited    []Awaited       `json:"awaited,omitempty"`    // posts whose senders want to know when their receivers are idle
	Held       []policy.Event  `json:"held,omitempty"`       // the held messages as policies see them when they are released
	Internal   int             `json:"internal,omitempty"`   // internal messages of the room
}

// NotifyIdle in Message.Notify asks the room to tell the sender once when the receiver,
// an agent, has no open turn, no message that it has not been given, and no task left.
const NotifyIdle = "idle"

// Awaited is a post with NotifyIdle of which the sender has not been told.
type Awaited struct {
	Message string `json:"message_id"`
	From    string `json:"from_agent"`
	To      string `json:"to_agent"`
}

// awaitIdle notes a post with NotifyIdle, and ends the wait when the room has told its
// sender.
func (s *State) awaitIdle(m Message) {
	if m.From == ActorRoom {
		s.Mail.Awaited = slices.DeleteFunc(slices.Clone(s.Mail.Awaited), func(w Awaited) bool { return w.Message == m.Parent })
		if len(s.Mail.Awaited) == 0 {
			s.Mail.Awaited = nil
		}
	} else if m.Notify == NotifyIdle && m.Turn == 0 && s.agentID(m.From) != "" && s.agentID(m.To) != "" {
		s.Mail.Awaited = append(s.Mail.Awaited[:len(s.Mail.Awaited):len(s.Mail.Awaited)], Awaited{m.ID, m.From, m.To})
	}
}

// idle reports whether the seat has nothing left to do. A message that is held waits
// for it.
func (s *State) idle(id string) bool {
	x := s.seat(id)
	if x == nil || x.Standing == Removed {
		return true
	}
	waits := slices.ContainsFunc(s.Mail.Deliveries.Pending(id), func(d delivery.Delivery) bool {
		return d.State == delivery.Held || d.State == delivery.Queued
	})
	return !waits && len(x.Inbox) == 0 && (s.Turn == nil || s.Turn.Participant != id) && !s.tasked(id)
}

// tasked reports whether the seat has a task left: one of the plan, or a call that it has
// made or works on.
func (s *State) tasked(id string) bool {
	return slices.ContainsFunc(s.Plan.OpenTasks(), func(t plan.Task) bool { return t.Owner == id }) ||
		slices.ContainsFunc(s.Calls, func(c Call) bool { return c.State.Open() && (c.Caller == id || c.Agent == id) })
}

// idleNotices returns the room's messages to senders whose receivers are idle.
func (s *State) idleNotices(now Now) (bodies []Body) {
	for _, w := range s.Mail.Awaited {
		if len(bodies) < maxDuesAtATime && s.idle(w.To) {
			m := Message{
				ID: s.Spec.Room + ".idle." + itoa(s.Seq+int64(len(bodies))+1), Run: s.Spec.Room, From: ActorRoom, To: w.From, Kind: KindUtterance, Visibility: Internal,
				Parent: w.Message, Text: w.To + " is idle", CreatedAt: float64(now.Wall.UnixMilli()) / 1000,
			}
			bodies = append(bodies, MessagePosted{Message: m})
		}
	}
	return bodies
}

// A DeadLetter is a message that was refused or has expired.
type DeadLetter struct {
	MessageDead
	Seq   int64          `json:"seq"` // of the dead letter
	At    time.Time      `json:"at"`
	State delivery.State `json:"state"` // Refused or Expired
}

// Refuses reports whether d is why the room has refused the message with that id, and
// not another message that took the id.
func (d DeadLetter) Refuses(id string) bool {
	return d.Message.ID == id && d.Target == 0 && d.Code != codeTaken
}

// timeOf returns the time of an event that changes deliveries.
func timeOf(e Event) delivery.Now { return delivery.Now{Wall: e.At, Clock: e.Clock} }

// applyMail folds the events about messages between participants.
func (s *State) applyMail(e Event) {
	at := timeOf(e)
	l := &s.Mail.Deliveries
	switch b := e.Body.(type) {
	case MessageAcked:
		l.Acknowledge(b.Message, b.Participant, at)
		s.unqueue(b.Participant, b.Target)
		s.dropHeld()
	case MessageReleased:
		l.Release(b.Message, b.Participant, at)
		s.enqueue(b.Participant, b.Target)
		s.noteReleased(e, b)
		s.LastNews = e.Seq
	case AckMissed:
		l.Miss(b.Message, b.Participant, b.Attempt, "again: not acknowledged in time", at)
		s.enqueue(b.Participant, b.Target)
		s.LastNews = e.Seq
	case MessageDead:
		s.applyDead(e, b)
	}
}

func (s *State) applyDead(e Event, b MessageDead) {
	state := delivery.Refused
	if b.Target != 0 {
		state = delivery.Expired
		s.Mail.Deliveries.Expire(b.Message.ID, b.Participant, b.Reason, timeOf(e))
		s.unqueue(b.Participant, b.Target)
	} else if id := b.Message.ID; validID(id) && !s.ownID(id) && !s.Commands.has(id) { // repeated, it is not refused again
		content, _ := strconv.ParseUint(b.Content, 16, 64)
		s.Commands.add(id, e.Seq)
		s.Commands.addContent(id, content)
	}
	s.Mail.DeadCount++
	s.Mail.Dead = append(s.Mail.Dead[max(0, len(s.Mail.Dead)-listedDead+1):len(s.Mail.Dead):len(s.Mail.Dead)], DeadLetter{b, e.Seq, e.At, state})
}

// receives reports whether a message is delivered to the seat.
func (x *Seat) receives(m Message) bool { return x.ID == m.To || slices.Contains(m.Receivers, x.ID) }

// deliverTo adds the delivery of a message that was posted to x.
func (s *State) deliverTo(e Event, x *Seat, b MessagePosted) {
	m := b.Message
	d := delivery.Delivery{
		Message: m.ID, Seq: e.Seq, From: m.From, To: x.ID, Kind: m.Kind, Priority: m.Priority, RequiresAck: m.RequiresAck,
		State: delivery.Queued, At: e.At, PostedAt: e.At, Since: e.Clock,
	}
	switch {
	case !x.Driven():
		d.State = delivery.Posted
	case b.HeldUntil > 0:
		d.State, d.Reason, d.Since = delivery.Held, b.Held, b.HeldUntil
	}
	s.Mail.Deliveries.Add(d)
}

// pairBound returns the bound of messages from one agent to another.
func (s *State) pairBound() delivery.Bound {
	return delivery.Bound{Every: time.Minute / time.Duration(max(1, s.Limits.PairRate)), Burst: s.Limits.PairBurst}
}

// hold returns until when a message that an agent posts outside its replies is held,
// and why: until each agent that receives it may be sent one. 0 is not at all.
func (s *State) hold(m Message, now Now) (until time.Duration, why string) {
	clock := max(s.Clock, now.Clock)
	for _, x := range s.Seats {
		if !x.Driven() || !x.receives(m) {
			continue
		}
		if at := s.Mail.Rates.Free(m.From, x.ID, s.pairBound()); at > max(clock, until) {
			until, why = at, "over "+count(s.Limits.PairRate, "message")+" a minute from "+m.From+" to "+x.ID
		}
	}
	return until, why
}

// countRates counts a message that an agent has posted outside its replies.
func (s *State) countRates(e Event, m Message) {
	for _, x := range s.Seats {
		if x.Driven() && x.receives(m) {
			s.Mail.Rates = s.Mail.Rates.Count(m.From, x.ID, e.Clock, s.pairBound())
		}
	}
}

// noteHeld keeps what policies see of a held message, without its text, until it is
// released.
func (s *State) noteHeld(e Event, m Message) {
	ev := policy.Event{Seq: e.Seq, From: m.From, Kind: policy.KindMessage, Mentions: m.Mentions, Addressed: m.Addressed}
	if m.To != Broadcast {
		ev.To = []string{m.To}
	}
	s.Mail.Held = append(s.Mail.Held[:len(s.Mail.Held):len(s.Mail.Held)], ev)
}

// noteReleased shows policies a message that was held, when its first receiver gets it.
func (s *State) noteReleased(e Event, b MessageReleased) {
	i := slices.IndexFunc(s.Mail.Held, func(ev policy.Event) bool { return ev.Seq == b.Target })
	if i < 0 {
		return
	}
	ev := s.Mail.Held[i]
	ev.Seq = e.Seq
	s.Recent.push(ev)
	s.removeHeld(func(ev policy.Event) bool { return ev.Seq == b.Target })
}

// dropHeld drops the held messages that every receiver has been given meanwhile: they
// need not wake anybody any more.
func (s *State) dropHeld() {
	if len(s.Mail.Held) > 0 {
		s.removeHeld(func(ev policy.Event) bool { return !s.Mail.Deliveries.Holds(ev.Seq) })
	}
}

func (s *State) removeHeld(which func(policy.Event) bool) {
	if s.Mail.Held = slices.DeleteFunc(slices.Clone(s.Mail.Held), which); len(s.Mail.Held) == 0 {
		s.Mail.Held = nil
	}
}

// noteDelivered records what the answered prompt of t held of the inbox of x. A person
// who has taken the seat over got no prompt.
func (s *State) noteDelivered(e Event, x *Seat, t *Turn) {
	w := t.Window
	x.clearInbox(w)
	if x.TakenBy != "" {
		return
	}
	s.Mail.Deliveries.Deliver(x.ID, t.Number, w.Holds, timeOf(e))
	s.dropHeld()
}

// requeue has the messages delivered again that an agent, which has lost its memory,
// has not acknowledged.
func (s *State) requeue(e Event, x *Seat, why string) {
	for _, seq := range s.Mail.Deliveries.Requeue(x.ID, "again: "+why, timeOf(e)) {
		s.enqueue(x.ID, seq)
	}
}

// enqueue puts a message of the log into the inbox of a seat again.
func (s *State) enqueue(id string, seq int64) {
	x := s.seat(id)
	if x == nil || slices.ContainsFunc(x.Inbox, func(w unread) bool { return w.Seq == seq }) {
		return
	}
	urgent := false
	for _, d := range s.Mail.Deliveries.Pending(id) {
		urgent = urgent || d.Seq == seq && kinds.Urgent(d.Priority)
	}
	x.Inbox = append(x.Inbox[:len(x.Inbox):len(x.Inbox)], unread{seq, urgent})
}

// unqueue removes a message from the inbox of a seat.
func (s *State) unqueue(id string, seq int64) {
	if x := s.seat(id); x != nil {
		x.Inbox = slices.DeleteFunc(slices.Clone(x.Inbox), func(w unread) bool { return w.Seq == seq })
	}
}

// A Receipt says what has become of a message.
type Receipt struct {
	Message    string              `json:"message_id"`
	Seq        int64               `json:"seq,omitempty"`
	State      delivery.State      `json:"state"` // of a message to one participant that of its delivery
	Reason     string              `json:"reason,omitempty"`
	Deliveries []delivery.Delivery `json:"deliveries,omitempty"`
}

// Receipt returns what has become of the message with that id, and false if the room
// does not know it.
func (s *State) Receipt(id string) (Receipt, bool) {
	for i := len(s.Mail.Dead) - 1; i >= 0; i-- {
		if d := s.Mail.Dead[i]; d.Refuses(id) {
			return Receipt{Message: id, State: d.State, Reason: d.Reason}, true
		}
	}
	r := Receipt{Message: id, State: delivery.Posted, Deliveries: s.Mail.Deliveries.Of(id)}
	if len(r.Deliveries) > 0 {
		r.Seq = r.Deliveries[0].Seq
	}
	if len(r.Deliveries) == 1 {
		r.State, r.Reason = r.Deliveries[0].State, r.Deliveries[0].Reason
	}
	return r, len(r.Deliveries) > 0 || s.Commands.has(id)
}

// A MailView is what people with control see of the messages between participants.
type MailView struct {
	Internal   int                 // internal messages of the room
	Dead       int                 // dead letters
	Letters    []DeadLetter        // the newest of them
	Deliveries []delivery.Delivery // the newest, oldest first
}

// Bounds of a MailView.
const (
	viewedDeliveries = 300
	viewedLetters    = 50
)

// view returns what people with control see. It shares nothing that changes with m.
func (m *Mail) view() *MailView {
	v := &MailView{Internal: m.Internal, Dead: m.DeadCount}
	v.Letters = slices.Clone(m.Dead[max(0, len(m.Dead)-viewedLetters):])
	v.Deliveries = slices.Clone(m.Deliveries.All[max(0, len(m.Deliveries.All)-viewedDeliveries):])
	return v
}

// For returns the part of r that a receiver of the message may know.
func (r Receipt) For(receiver string) Receipt {
	all := r.Deliveries
	r.Deliveries = nil
	for _, d := range all {
		if d.To == receiver {
			r.Deliveries, r.State, r.Reason = append(r.Deliveries, d), d.State, d.Reason
		}
	}
	return r
}
