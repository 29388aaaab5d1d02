package session

import (
	"bytes"
	"errors"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

const (
	badKnocks     = 5 // in knockWindow, for each invite
	knockWindow   = time.Minute
	maxAdmissions = 8
)

// A Book is where a Door finds invites; *identity.Invites is one.
type Book interface {
	Lookup(id [16]byte) (identity.Invite, error)
	// Use takes one use of the invite, durably: identity.ErrInviteExpired,
	// identity.ErrInviteUsed.
	Use(id [16]byte, by identity.DeviceID, now time.Time) error
}

// A Door is the host's side of pairings: devices that nobody knows knock at
// it. Only a first message that decrypts, which needs the invite, uses the
// invite up; the relay, which sees the invite's id, cannot.
type Door struct {
	self  *identity.Device
	name  string
	book  Book
	bad   map[[16]byte]*knocks
	guest map[identity.DeviceID]*Admission
}

type knocks struct {
	since time.Time
	n     int
}

// NewDoor returns a door. name is what this device is called.
func NewDoor(self *identity.Device, name string, book Book) *Door {
	return &Door{self: self, name: identity.CleanName(name), book: book, bad: map[[16]byte]*knocks{}, guest: map[identity.DeviceID]*Admission{}}
}

// Owns says whether a payload of this device is for the door and not for the
// session that the two may have already.
func (d *Door) Owns(from identity.DeviceID, payload []byte) bool {
	if len(payload) > 0 && payload[0] == kindPair1 {
		return true
	}
	a := d.guest[from]
	return a != nil && a.owns(payload)
}

// Tick says that time has passed, and returns the admissions under way: for
// each, Take says what is to be done.
func (d *Door) Tick(now time.Time) map[identity.DeviceID]*Admission {
	d.sweep(now)
	for _, a := range d.guest {
		a.Tick(now)
	}
	return d.guest
}

// Receive takes a payload of a device that is no peer, or of a peer that
// pairs again. It returns the admission that it belongs to; false means that
// it was dropped. Errors are of the book.
func (d *Door) Receive(now time.Time, from identity.DeviceID, payload []byte) (*Admission, bool, error) {
	d.sweep(now)
	a := d.guest[from]
	if len(payload) == 0 || payload[0] != kindPair1 {
		if a != nil {
			a.receive(now, payload)
		}
		return a, a != nil, nil
	}
	if len(payload) < 17 {
		return nil, false, nil
	}
	id, message := [16]byte(payload[1:]), payload[17:]
	if a != nil && a.invite.ID == id && bytes.Equal(a.first, message) {
		a.out = append(a.out, a.reply)
		return a, true, nil
	}
	return d.knock(now, from, id, message)
}

// sweep forgets what has ended.
func (d *Door) sweep(now time.Time) {
	for id, a := range d.guest {
		if a.over(now) {
			delete(d.guest, id)
		}
	}
	for id, k := range d.bad {
		if !now.Before(k.since.Add(knockWindow)) {
			delete(d.bad, id)
		}
	}
}

func (d *Door) knock(now time.Time, from identity.DeviceID, id [16]byte, message []byte) (*Admission, bool, error) {
	in, err := d.book.Lookup(id)
	if errors.Is(err, identity.ErrNoInvite) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if k := d.bad[id]; k != nil && k.n >= badKnocks || d.guest[from] == nil && len(d.guest) >= maxAdmissions {
		return nil, false, nil
	}
	a, ok := d.open(now, from, in, message)
	if !ok {
		if d.bad[id] == nil {
			d.bad[id] = &knocks{since: now}
		}
		d.bad[id].n++
		return nil, false, nil
	}
	refused := ""
	switch err := d.book.Use(id, from, now); {
	case errors.Is(err, identity.ErrInviteExpired):
		refused = refusedExpired
	case errors.Is(err, identity.ErrInviteUsed):
		refused = refusedUsed
	case err != nil:
		return nil, false, err
	}
	return a, d.answer(now, a, refused), nil
}

// open decrypts message 1 and checks that its sender is who it says.
func (d *Door) open(now time.Time, from identity.DeviceID, in identity.Invite, message []byte) (*Admission, bool) {
	static, ok := d.self.Static(in.Host.NK)
	if !ok || in.Host.ID != d.self.ID() || from == d.self.ID() {
		return nil, false
	}
	ans, err := readOpening(pairNoise(false, in, from, static), message)
	if err != nil {
		return nil, false
	}
	var h joinerHello
	if err := decodePadded(ans.payload, &h); err != nil || h.V != version {
		return nil, false
	}
	if h.Record.ID != from || h.Record.NK != ans.static || h.Record.Check(now) != nil {
		return nil, false
	}
	return &Admission{
		pairConn: pairConn{channel: newChannel()}, invite: in, answer: ans, first: bytes.Clone(message), record: h.Record,
		newcomer: Newcomer{
			ID: from, Name: identity.CleanName(h.Name), Capabilities: cleanCapabilities(h.Capabilities),
			Grant: in.Grant, Room: in.Room, Auto: in.Auto,
		},
		psk: newPSK(), until: now.Add(handshakeLife), begun: now,
	}, true
}

func (d *Door) answer(now time.Time, a *Admission, refused string) bool {
	payload, err := padded(hostHello{
		V: version, Name: d.name, Grant: a.invite.Grant, Room: a.invite.Room, Limits: ownLimits(), Refused: refused,
	})
	if err != nil {
		return false
	}
	reply, k, err := a.answer.reply(payload)
	if err != nil {
		return false
	}
	a.answer = nil
	a.reply = bytes.Join([][]byte{{kindPair2}, a.invite.ID[:], reply}, nil)
	a.out = append(a.out, a.reply)
	a.live, a.newcomer.Digits = k, k.digits
	if refused != "" {
		a.done = true // kept for a moment, to repeat the reply
	}
	d.guest[a.newcomer.ID] = a
	return true
}

// An Admission is one newcomer at the door. Like a Session it is driven from
// outside and not safe for concurrent use.
type Admission struct {
	pairConn
	invite    identity.Invite
	answer    *answer
	first     []byte
	reply     []byte
	record    identity.KeyRecord
	newcomer  Newcomer
	psk       []byte
	begun     time.Time
	until     time.Time
	confirmed bool // by a message that only a live newcomer can send
	decided   bool
	accepted  bool
}

func (a *Admission) receive(now time.Time, payload []byte) {
	if len(payload) == 0 || len(payload) > maxPayload || payload[0] != kindData && payload[0] != kindCtl {
		a.dropped++
		return
	}
	for _, v := range a.sealed(now, payload) {
		if v.Type != wordConfirm || a.confirmed {
			a.fail(ErrViolation)
			return
		}
		a.confirmed, a.until = true, now.Add(decideWithin)
		a.events = append(a.events, Asked{a.newcomer})
	}
	a.Tick(now)
}

// Peer is what to store before Accept.
func (a *Admission) Peer() identity.Peer {
	return identity.Peer{
		ID: a.newcomer.ID, Record: a.record, PairPSK: a.psk, Mine: a.invite.Host.NK[:], Name: a.newcomer.Name,
		Grant: a.invite.Grant, Room: a.invite.Room, Created: a.begun.UTC(), Digits: a.newcomer.Digits,
	}
}

// Accept sends the newcomer the secret of the pair. Store Peer before: what
// the newcomer has and the host has not is of no use.
func (a *Admission) Accept(now time.Time) {
	a.decide(now, word{V: version, Type: wordPaired, PairPSK: a.psk})
}

// Refuse tells the newcomer so.
func (a *Admission) Refuse(now time.Time) { a.decide(now, word{V: version, Type: wordRefused}) }

func (a *Admission) decide(now time.Time, v word) {
	if !a.confirmed || a.decided || a.done {
		return
	}
	a.decided, a.accepted, a.until = true, v.Type == wordPaired, time.Time{}
	if err := a.say(now, v); err != nil {
		a.fail(err)
	}
	a.Tick(now)
}

// Tick says that time has passed.
func (a *Admission) Tick(now time.Time) {
	switch {
	case a.done:
	case a.accepted && a.tx.idle():
		a.done = true
		a.events = append(a.events, Paired{a.Peer()})
	case a.decided && a.tx.idle():
		a.fail(ErrRefused)
	case a.gaveUp(now):
		a.fail(ErrUnreachable)
	case !a.until.IsZero() && !now.Before(a.until):
		a.expire()
	}
	a.settle(now)
}

// expire ends the wait. A newcomer that never confirmed was perhaps none, so
// nobody hears of it.
func (a *Admission) expire() {
	a.until = time.Time{}
	if a.confirmed {
		a.fail(ErrNoAnswer)
	}
	a.done = true
}

// over says that nothing of the admission matters any more: it ended and its
// owner took notice, or its first message was a replay that nobody stands
// behind.
func (a *Admission) over(now time.Time) bool {
	if len(a.events) > 0 || len(a.out) > 0 {
		return false
	}
	return (a.done || !a.confirmed) && !now.Before(a.begun.Add(handshakeLife)) && a.ackDue.IsZero() && a.tx.idle()
}

// Take returns what is to be done, once.
func (a *Admission) Take() Output { return a.take(a.next()) }

func (a *Admission) next() time.Time { return earlier(a.deadline(), a.until) }
