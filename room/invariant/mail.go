package invariant

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/delivery"
)

// mail is what the events have said about messages.
type mail struct {
	messages map[string]int64   // seq of each message
	boxes    map[box]*letter    // messages to one participant
	readable map[string][]int64 // messages that a participant may read, by seat
	public   []int64            // messages that all may read
	newest   []string           // texts of agents, newest last
	internal int                // internal messages from agent to agent in a row
	posts    int                // of the agent in its turn
	handoffs int                // in the turn
}

// A box is a message to one participant.
type box struct{ message, to string }

// A letter is what became of a message to one participant.
type letter struct {
	seq       int64
	needsAck  bool
	heldUntil time.Duration
	released  bool
	acked     bool
	dead      bool
	missed    int
}

func (m *mail) init() {
	*m = mail{messages: map[string]int64{}, boxes: map[box]*letter{}, readable: map[string][]int64{}}
}

// cursorsGrow checks that cursors only grow, and that none is past the log.
func (c *Checker) cursorsGrow(e step) string {
	for i, was := range c.was.seats {
		if i >= len(e.s.Seats) {
			return "a seat is gone"
		}
		x := e.s.Seats[i]
		at := e.s.Mail.Deliveries.Cursor(x.ID)
		if at < was.mailCursor || at > e.Seq || x.Cursor < was.cursor || x.Cursor > e.Seq {
			return fmt.Sprintf("the cursors of %s go from %d and %d to %d and %d", x.ID, was.cursor, was.mailCursor, x.Cursor, at)
		}
	}
	return ""
}

// catchesUp checks that the catch-up cursor of a seat moves only when its own turn ends
// with an answer, and to the end of its window.
func (c *Checker) catchesUp(e step) string {
	for i, was := range c.was.seats {
		if i >= len(e.s.Seats) || e.s.Seats[i].Cursor == was.cursor {
			continue
		}
		x := e.s.Seats[i]
		n, ends := ending(e.Body)
		switch e.Body.(type) {
		case room.MessagePosted, room.TurnPassed:
		default:
			ends = false
		}
		if !ends || c.turn == nil || c.turn.Turn != n || c.turn.Participant != x.ID || x.Cursor != c.turn.Window.Through {
			return fmt.Sprintf("%s moves the catch-up cursor of %s to %d", e.Body.Type(), x.ID, x.Cursor)
		}
	}
	return ""
}

// delivers checks that a message has a delivery to each of its receivers.
func (c *Checker) delivers(e step) string {
	b, ok := e.Body.(room.MessagePosted)
	if !ok {
		return ""
	}
	for _, to := range c.receivers(b.Message) {
		d := e.s.Mail.Deliveries.Find(b.Message.ID, to)
		want := delivery.Queued
		switch {
		case !c.seatOf(to).driven():
			want = delivery.Posted
		case b.HeldUntil > 0:
			want = delivery.Held
		}
		if d == nil || d.State != want || d.Seq != e.Seq {
			return fmt.Sprintf("message %s to %s has the delivery %+v, not %s", b.Message.ID, to, d, want)
		}
	}
	return ""
}

// handsOver checks that a message counts as delivered only when it was in an answered
// prompt of its receiver.
func (c *Checker) handsOver(e step) string {
	n, ends := ending(e.Body)
	if !ends || c.turn == nil || c.turn.Turn != n {
		return ""
	}
	all := e.s.Mail.Deliveries.All
	for i := range all {
		d := &all[i]
		if d.Turn == n && d.State == delivery.Delivered && (d.To != c.turn.Participant || !holds(c.turn.Window, d.Seq)) {
			return fmt.Sprintf("message %s is delivered to %s by turn %d, and its prompt did not have it", d.Message, d.To, n)
		}
	}
	return ""
}

// holds reports whether a window has a message whole.
func holds(w room.Window, seq int64) bool {
	for _, p := range w.Verbatim {
		if p.From <= seq && seq <= p.To {
			return true
		}
	}
	return slices.Contains(w.First, seq)
}

// ackedOnce checks that an acknowledgement is of a message to its actor that waits.
func (c *Checker) ackedOnce(e step) string {
	b, ok := e.Body.(room.MessageAcked)
	if !ok {
		return ""
	}
	l := c.boxes[box{b.Message, b.Participant}]
	switch {
	case l == nil:
		return b.Participant + " acknowledges " + b.Message + ", which it was not sent"
	case l.acked || l.dead || l.seq != b.Target || e.Actor != b.Participant:
		return fmt.Sprintf("%s acknowledges %s for %s, and its letter is %+v", e.Actor, b.Message, b.Participant, *l)
	}
	return ""
}

// ackedAlone checks that the acknowledgement of one receiver of a broadcast is none of
// another.
func (c *Checker) ackedAlone(e step) string {
	b, ok := e.Body.(room.MessageAcked)
	if !ok {
		return ""
	}
	for _, d := range e.s.Mail.Deliveries.Of(b.Message) {
		l := c.boxes[box{d.Message, d.To}]
		if done := d.To == b.Participant || l != nil && l.acked; (d.State == delivery.Acked) != done {
			return fmt.Sprintf("after %s acknowledged %s, its delivery to %s is %s", b.Participant, b.Message, d.To, d.State)
		}
	}
	return ""
}

// missesInOrder checks that each missed acknowledgement counts once, in order, and only
// while one is due.
func (c *Checker) missesInOrder(e step) string {
	b, ok := e.Body.(room.AckMissed)
	if !ok {
		return ""
	}
	l := c.boxes[box{b.Message, b.Participant}]
	if l == nil || !l.needsAck || l.acked || l.dead || b.Attempt != l.missed+1 {
		return fmt.Sprintf("attempt %d of %s to %s is missed, and its letter is %+v", b.Attempt, b.Message, b.Participant, l)
	}
	return ""
}

// expiresAfterAll checks that a message becomes a dead letter only after all attempts.
func (c *Checker) expiresAfterAll(e step) string {
	b, ok := e.Body.(room.MessageDead)
	if !ok || b.Target == 0 {
		return ""
	}
	if l := c.boxes[box{b.Message.ID, b.Participant}]; l == nil || l.dead || l.acked || l.missed < c.was.limits.MaxAckAttempts {
		return fmt.Sprintf("message %s to %s is a dead letter, and its letter is %+v", b.Message.ID, b.Participant, l)
	}
	return ""
}

// newMessage checks that no two messages have the same id.
func (c *Checker) newMessage(e step) string {
	if b, ok := e.Body.(room.MessagePosted); ok {
		if seq, known := c.messages[b.Message.ID]; known {
			return fmt.Sprintf("message %s was posted at event %d", b.Message.ID, seq)
		}
	}
	return ""
}

// Bounds of dead letters and payloads, in bytes.
const (
	maxDead    = 1000 // refused messages that a room records
	maxCopy    = 2_000
	maxInline  = 8 << 10
	maxPayload = 256 << 10
	maxText    = 1 << 20
)

// deadBounded checks that a refused message leaves a bounded copy and nothing else.
func (c *Checker) deadBounded(e step) string {
	b, ok := e.Body.(room.MessageDead)
	switch {
	case !ok:
		return ""
	case len(b.Message.Text) > maxCopy || len(b.Message.Payload) > maxCopy || b.Message.Visibility != room.Internal:
		return "the dead letter of " + b.Message.ID + " is too long, or not internal"
	case e.s.Tally != c.was.tally || len(e.s.Mail.Deliveries.All) != c.was.deliveries:
		return "the refused message " + b.Message.ID + " has changed a count or was delivered"
	case b.Target == 0 && c.was.dead >= maxDead:
		return fmt.Sprintf("the room has %d dead letters", c.was.dead)
	}
	return ""
}

// inLogOrder checks that the deliveries are in the order of the log.
func (c *Checker) inLogOrder(e step) string {
	if _, ok := e.Body.(room.MessagePosted); !ok {
		return ""
	}
	all := e.s.Mail.Deliveries.All
	if n := len(all); n > 1 && all[n-1].Seq < all[n-2].Seq {
		return fmt.Sprintf("the delivery of event %d comes after that of event %d", all[n-1].Seq, all[n-2].Seq)
	}
	return ""
}

// releasedInTime checks that a message that is held is released once, when its time has
// come.
func (c *Checker) releasedInTime(e step) string {
	b, ok := e.Body.(room.MessageReleased)
	if !ok {
		return ""
	}
	if l := c.boxes[box{b.Message, b.Participant}]; l == nil || l.heldUntil == 0 || l.released || l.seq != b.Target || e.Clock < l.heldUntil {
		return fmt.Sprintf("message %s to %s is released at %v, and its letter is %+v", b.Message, b.Participant, e.Clock, l)
	}
	return ""
}

// loses checks that a window accounts for every message that its participant may read:
// given, summarised and counted together are all of them.
func (c *Checker) loses(e step) string {
	b, ok := e.Body.(room.TurnGranted)
	if !ok {
		return ""
	}
	w, id := b.Window, b.Participant
	seen, total := 0, c.readableBetween(id, 1, w.Through)
	for _, spans := range [][]room.Span{w.Verbatim, w.Lines} {
		for _, p := range spans {
			seen += c.readableBetween(id, p.From, p.To)
		}
	}
	for _, o := range w.Omitted {
		seen += o.Messages
	}
	if seen != total {
		return fmt.Sprintf("the window of %s accounts for %d of %d messages: %+v", id, seen, total, w)
	}
	return ""
}

// readableBetween returns the number of messages that a participant may read, from one
// event to another.
func (m *mail) readableBetween(id string, from, to int64) int {
	n := 0
	for _, seqs := range [][]int64{m.public, m.readable[id]} {
		n += sort.Search(len(seqs), func(i int) bool { return seqs[i] > to }) - sort.Search(len(seqs), func(i int) bool { return seqs[i] >= from })
	}
	return n
}

// ownInbox checks that a window hands over and keeps only messages to its participant.
func (c *Checker) ownInbox(e step) string {
	b, ok := e.Body.(room.TurnGranted)
	if !ok {
		return ""
	}
	for _, list := range [][]int64{b.Window.First, b.Window.Kept} {
		for _, seq := range list {
			if !c.sentTo(b.Participant, seq) {
				return fmt.Sprintf("the window of %s has event %d, which is no message to it", b.Participant, seq)
			}
		}
	}
	return ""
}

func (c *Checker) sentTo(id string, seq int64) bool {
	for k, l := range c.boxes {
		if k.to == id && l.seq == seq {
			return true
		}
	}
	return false
}

// learnMail notes what the checks of messages need to know.
func (c *Checker) learnMail(e step) {
	c.learnLoops(e)
	switch b := e.Body.(type) {
	case room.MessagePosted:
		c.learnMessage(e, b)
	case room.MessageAcked:
		if l := c.boxes[box{b.Message, b.Participant}]; l != nil {
			l.acked = true
		}
	case room.MessageReleased:
		if l := c.boxes[box{b.Message, b.Participant}]; l != nil {
			l.released = true
		}
	case room.AckMissed:
		if l := c.boxes[box{b.Message, b.Participant}]; l != nil {
			l.missed = b.Attempt
		}
	case room.MessageDead:
		if l := c.boxes[box{b.Message.ID, b.Participant}]; l != nil && b.Target != 0 {
			l.dead = true
		}
	}
}

func (c *Checker) learnMessage(e step, b room.MessagePosted) {
	m := b.Message
	c.messages[m.ID] = e.Seq
	for _, to := range c.receivers(m) {
		c.boxes[box{m.ID, to}] = &letter{seq: e.Seq, needsAck: m.RequiresAck, heldUntil: b.HeldUntil}
	}
	if m.Visibility != room.Internal {
		c.public = append(c.public, e.Seq)
		return
	}
	for id := range c.seat {
		if id == m.From || id == m.To || m.To == room.Broadcast && (len(m.Receivers) == 0 || slices.Contains(m.Receivers, id)) {
			c.readable[id] = append(c.readable[id], e.Seq)
		}
	}
}
