// Package delivery keeps what has become of the messages that are addressed to one
// participant: whether it was handed to its agent, whether the agent has acknowledged
// it, and what the room does if not.
//
// The package is pure and imports nothing of this module. A [Ledger] is part of the
// state of a room and is written only by the fold of its log.
package delivery

import (
	"cmp"
	"slices"
	"time"
)

// State is the state of a delivery.
type State string

// States. A delivery that is Posted was not handed to anybody: its receiver is a
// person, who reads the room. One that is Delivered stood in a prompt that its agent
// has answered.
const (
	Posted    State = "posted"
	Queued    State = "queued"
	Held      State = "held"
	Delivered State = "delivered"
	Acked     State = "acked"
	Refused   State = "refused" // not accepted; a dead letter
	Expired   State = "expired" // never acknowledged; a dead letter
)

// A Delivery is one message on its way to one receiver.
type Delivery struct {
	Message     string    `json:"message_id"`
	Seq         int64     `json:"seq"` // of the message's event
	From        string    `json:"from_agent"`
	To          string    `json:"to_agent"` // the receiver; a broadcast has one delivery for each
	Kind        string    `json:"kind"`
	Priority    string    `json:"priority,omitempty"`
	RequiresAck bool      `json:"requires_ack,omitempty"`
	State       State     `json:"state"`
	Reason      string    `json:"reason,omitempty"`
	At          time.Time `json:"at"`        // since when it has State; informative
	PostedAt    time.Time `json:"posted_at"` // informative
	Turn        int       `json:"turn,omitempty"`
	Attempts    int       `json:"attempts,omitempty"` // times that its acknowledgement was missed

	// Since is the room's clock at which the wait for an acknowledgement began, or at
	// which a held message is released.
	Since time.Duration `json:"since_ns,omitempty"`
}

// Settled reports whether nothing more becomes of d.
func (d *Delivery) Settled() bool {
	switch d.State {
	case Acked, Refused, Expired:
		return true
	case Delivered, Posted:
		return !d.RequiresAck
	}
	return false
}

// Now is the time of an event that changes a ledger.
type Now struct {
	Wall  time.Time
	Clock time.Duration
}

// A Ledger holds the deliveries of a room by message, oldest first. The zero Ledger is
// empty. It is not safe for concurrent use.
type Ledger struct {
	All     []Delivery       `json:"all,omitempty"`
	Cursors map[string]int64 `json:"cursors,omitempty"` // see Cursor
	Dropped int              `json:"dropped,omitempty"` // settled deliveries that are not listed any more
}

// Most is the largest number of settled deliveries that a ledger lists.
const Most = 1000

// Add adds a delivery of a new message.
func (l *Ledger) Add(d Delivery) {
	l.All = append(l.All, d)
	l.advance(d.To)
	if len(l.All) > 2*Most {
		l.trim()
	}
}

// trim drops the oldest settled deliveries beyond Most.
func (l *Ledger) trim() {
	left := -Most
	for i := range l.All {
		if l.All[i].Settled() {
			left++
		}
	}
	l.All = slices.DeleteFunc(l.All, func(d Delivery) bool {
		if left <= 0 || !d.Settled() {
			return false
		}
		left--
		l.Dropped++
		return true
	})
}

// Find returns the delivery of a message to a participant, or nil. It is valid until
// the next Add.
func (l *Ledger) Find(message, to string) *Delivery {
	for i := len(l.All) - 1; i >= 0; i-- {
		if d := &l.All[i]; d.Message == message && d.To == to {
			return d
		}
	}
	return nil
}

// Of returns the deliveries of a message, one for each receiver.
func (l *Ledger) Of(message string) []Delivery {
	var out []Delivery
	for _, d := range l.All {
		if d.Message == message {
			out = append(out, d)
		}
	}
	return out
}

// Pending returns the deliveries to a participant that are not settled, in the order
// of the log. It includes those that are held.
func (l *Ledger) Pending(to string) []Delivery {
	var out []Delivery
	for i := range l.All {
		if d := &l.All[i]; d.To == to && !d.Settled() {
			out = append(out, *d)
		}
	}
	return out
}

// Queued returns the deliveries to a participant that its next prompt should hold.
func (l *Ledger) Queued(to string) []Delivery {
	return slices.DeleteFunc(l.Pending(to), func(d Delivery) bool { return d.State != Queued })
}

// Deliver records that a participant has answered a prompt of the turn that held the
// messages for which held is true.
func (l *Ledger) Deliver(to string, turn int, held func(seq int64) bool, now Now) {
	for i := range l.All {
		if d := &l.All[i]; d.To == to && (d.State == Queued || d.State == Held) && held(d.Seq) {
			d.set(Delivered, "", now)
			d.Turn, d.Since = turn, now.Clock
		}
	}
	l.advance(to)
}

// Acknowledge records that a participant has acknowledged a message.
func (l *Ledger) Acknowledge(message, to string, now Now) {
	if d := l.Find(message, to); d != nil {
		d.set(Acked, "", now)
		l.advance(to)
	}
}

// Requeue has the messages to a participant delivered again that it has been handed
// and has not acknowledged, because it may not remember them. It returns their
// places in the log.
func (l *Ledger) Requeue(to, reason string, now Now) []int64 {
	var again []int64
	for i := range l.All {
		if d := &l.All[i]; d.To == to && d.State == Delivered && d.RequiresAck {
			d.set(Queued, reason, now)
			again = append(again, d.Seq)
		}
	}
	return again
}

// Holds reports whether a delivery of the message at seq is held.
func (l *Ledger) Holds(seq int64) bool {
	return slices.ContainsFunc(l.All, func(d Delivery) bool { return d.Seq == seq && d.State == Held })
}

// Holding reports whether any delivery is held.
func (l *Ledger) Holding() bool {
	return slices.ContainsFunc(l.All, func(d Delivery) bool { return d.State == Held })
}

// Release ends the hold of a message.
func (l *Ledger) Release(message, to string, now Now) {
	if d := l.Find(message, to); d != nil && d.State == Held {
		d.set(Queued, "", now)
		d.Since = now.Clock
	}
}

// Miss records that a message was not acknowledged in time. It is delivered again.
func (l *Ledger) Miss(message, to string, attempt int, reason string, now Now) {
	d := l.Find(message, to)
	if d == nil {
		return
	}
	d.Attempts, d.Since = attempt, now.Clock
	if d.State == Delivered {
		d.set(Queued, reason, now)
	}
}

// Expire ends a delivery that was never acknowledged.
func (l *Ledger) Expire(message, to, reason string, now Now) {
	if d := l.Find(message, to); d != nil {
		d.set(Expired, reason, now)
		l.advance(to)
	}
}

func (d *Delivery) set(s State, reason string, now Now) {
	d.State, d.Reason, d.At = s, reason, now.Wall
}

// Due returns the deliveries for which the room must act at the clock: held ones to be
// released, and those whose acknowledgement was missed within timeout.
func (l *Ledger) Due(clock, timeout time.Duration) []Delivery {
	var out []Delivery
	for i := range l.All {
		if at, ok := l.All[i].due(timeout); ok && at <= clock {
			out = append(out, l.All[i])
		}
	}
	return out
}

// Next returns the clock at which [Ledger.Due] has the next delivery, and false if it
// never has.
func (l *Ledger) Next(timeout time.Duration) (time.Duration, bool) {
	var next time.Duration
	found := false
	for i := range l.All {
		if at, ok := l.All[i].due(timeout); ok && (!found || at < next) {
			next, found = at, true
		}
	}
	return next, found
}

func (d *Delivery) due(timeout time.Duration) (time.Duration, bool) {
	switch {
	case d.State == Held:
		return d.Since, true
	case d.RequiresAck && !d.Settled():
		return d.Since + timeout, true
	}
	return 0, false
}

// Cursor returns the place in the log up to which all messages to a participant are
// settled. It only grows.
func (l *Ledger) Cursor(to string) int64 { return l.Cursors[to] }

// advance moves the cursor of a participant.
func (l *Ledger) advance(to string) {
	at := l.Cursors[to]
	for i := range l.All {
		d := &l.All[i]
		if d.To != to || d.Seq <= at {
			continue
		}
		if !d.Settled() {
			break
		}
		at = d.Seq
	}
	if at != l.Cursors[to] {
		if l.Cursors == nil {
			l.Cursors = map[string]int64{}
		}
		l.Cursors[to] = at
	}
}

// ByPriority sorts deliveries as they are handed over: urgent ones first, then in the
// order of the log.
func ByPriority(ds []Delivery, urgent func(priority string) bool) {
	slices.SortStableFunc(ds, func(a, b Delivery) int {
		if urgent(a.Priority) != urgent(b.Priority) {
			if urgent(a.Priority) {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Seq, b.Seq)
	})
}
