package session

import (
	"bytes"
	"errors"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

const (
	maxFailedAttempts  = 5 // in knockWindow, for each invite
	failureWindow      = time.Minute
	maxPairingAttempts = 8
)

// A InviteStore is where a Door finds invites; *identity.Invites is one.
type InviteStore interface {
	Lookup(id [16]byte) (identity.Invite, error)
	// Use takes one use of the invite, durably: identity.ErrInviteExpired,
	// identity.ErrInviteUsed.
	Use(id [16]byte, by identity.DeviceID, now time.Time) error
}

// A PairingListener is the host's side of pairings: devices that nobody knows knock at
// it. Only a first message that decrypts, which needs the invite, uses the
// invite up; the relay, which sees the invite's id, cannot.
type PairingListener struct {
	self     *identity.Device
	name     string
	invites  InviteStore
	failures map[[16]byte]*failureCount
	attempts map[identity.DeviceID]*PairingAttempt
}

type failureCount struct {
	since time.Time
	n     int
}

// NewPairingListener returns a door. name is what this device is called.
func NewPairingListener(self *identity.Device, name string, book InviteStore) *PairingListener {
	return &PairingListener{self: self, name: identity.CleanName(name), invites: book, failures: map[[16]byte]*failureCount{}, attempts: map[identity.DeviceID]*PairingAttempt{}}
}

// Owns says whether a payload of this device is for the door and not for the
// session that the two may have already.
func (d *PairingListener) Owns(from identity.DeviceID, payload []byte) bool {
	if len(payload) > 0 && payload[0] == kindPair1 {
		return true
	}
	a := d.attempts[from]
	return a != nil && a.owns(payload)
}

// Tick says that time has passed, and returns the admissions under way: for
// each, Take says what is to be done.
func (d *PairingListener) Tick(now time.Time) map[identity.DeviceID]*PairingAttempt {
	d.expire(now)
	for _, a := range d.attempts {
		a.Tick(now)
	}
	return d.attempts
}

// Receive takes a payload of a device that is no peer, or of a peer that
// pairs again. It returns the admission that it belongs to; false means that
// it was dropped. Errors are of the book.
func (d *PairingListener) Receive(now time.Time, from identity.DeviceID, payload []byte) (*PairingAttempt, bool, error) {
	d.expire(now)
	a := d.attempts[from]
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
	if a != nil && a.invite.ID == id && bytes.Equal(a.message1, message) {
		a.out = append(a.out, a.message2)
		return a, true, nil
	}
	return d.attempt(now, from, id, message)
}

// expire forgets what has ended.
func (d *PairingListener) expire(now time.Time) {
	for id, a := range d.attempts {
		if a.finished(now) {
			delete(d.attempts, id)
		}
	}
	for id, k := range d.failures {
		if !now.Before(k.since.Add(failureWindow)) {
			delete(d.failures, id)
		}
	}
}

func (d *PairingListener) attempt(now time.Time, from identity.DeviceID, id [16]byte, message []byte) (*PairingAttempt, bool, error) {
	in, err := d.invites.Lookup(id)
	if errors.Is(err, identity.ErrNoInvite) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if k := d.failures[id]; k != nil && k.n >= maxFailedAttempts || d.attempts[from] == nil && len(d.attempts) >= maxPairingAttempts {
		return nil, false, nil
	}
	a, ok := d.decrypt(now, from, in, message)
	if !ok {
		if d.failures[id] == nil {
			d.failures[id] = &failureCount{since: now}
		}
		d.failures[id].n++
		return nil, false, nil
	}
	refused := ""
	switch err := d.invites.Use(id, from, now); {
	case errors.Is(err, identity.ErrInviteExpired):
		refused = refusedExpired
	case errors.Is(err, identity.ErrInviteUsed):
		refused = refusedUsed
	case err != nil:
		return nil, false, err
	}
	return a, d.reply(now, a, refused), nil
}

// decrypt decrypts message 1 and checks that its sender is who it says.
func (d *PairingListener) decrypt(now time.Time, from identity.DeviceID, in identity.Invite, message []byte) (*PairingAttempt, bool) {
	static, ok := d.self.Static(in.Host.NK)
	if !ok || in.Host.ID != d.self.ID() || from == d.self.ID() {
		return nil, false
	}
	ans, err := newResponder(pairNoise(false, in, from, static), message)
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
	return &PairingAttempt{
		pairConn: pairConn{channel: newChannel()}, invite: in, handshake: ans, message1: bytes.Clone(message), record: h.Record,
		request: JoinRequest{
			ID: from, Name: identity.CleanName(h.Name), Capabilities: cleanCapabilities(h.Capabilities),
			Grant: in.Grant, Room: in.Room, Auto: in.Auto,
		},
		psk: newPSK(), until: now.Add(handshakeTimeout), started: now,
	}, true
}

func (d *PairingListener) reply(now time.Time, a *PairingAttempt, refused string) bool {
	payload, err := padded(hostHello{
		V: version, Name: d.name, Grant: a.invite.Grant, Room: a.invite.Room, Limits: ownLimits(), Refused: refused,
	})
	if err != nil {
		return false
	}
	reply, k, err := a.handshake.writeMessage2(payload)
	if err != nil {
		return false
	}
	a.handshake = nil
	a.message2 = bytes.Join([][]byte{{kindPair2}, a.invite.ID[:], reply}, nil)
	a.out = append(a.out, a.message2)
	a.live, a.request.Digits = k, k.digits
	if refused != "" {
		a.done = true // kept for a moment, to repeat the reply
	}
	d.attempts[a.request.ID] = a
	return true
}

// An PairingAttempt is one newcomer at the door. Like a Session it is driven from
// outside and not safe for concurrent use.
type PairingAttempt struct {
	pairConn
	invite    identity.Invite
	handshake *responder
	message1  []byte
	message2  []byte
	record    identity.KeyRecord
	request   JoinRequest
	psk       []byte
	started   time.Time
	until     time.Time
	confirmed bool // by a message that only a live newcomer can send
	decided   bool
	accepted  bool
}

func (a *PairingAttempt) receive(now time.Time, payload []byte) {
	if len(payload) == 0 || len(payload) > maxPayload || payload[0] != kindData && payload[0] != kindCtl {
		a.dropped++
		return
	}
	for _, v := range a.open(now, payload) {
		if v.Type != messageConfirm || a.confirmed {
			a.fail(ErrViolation)
			return
		}
		a.confirmed, a.until = true, now.Add(approvalTimeout)
		a.events = append(a.events, JoinRequested{a.request})
	}
	a.Tick(now)
}

// Peer is what to store before Accept.
func (a *PairingAttempt) Peer() identity.Peer {
	return identity.Peer{
		ID: a.request.ID, Record: a.record, PairPSK: a.psk, Mine: a.invite.Host.NK[:], Name: a.request.Name,
		Grant: a.invite.Grant, Room: a.invite.Room, Created: a.started.UTC(), Digits: a.request.Digits,
	}
}

// Accept sends the newcomer the secret of the pair. Store Peer before: what
// the newcomer has and the host has not is of no use.
func (a *PairingAttempt) Accept(now time.Time) {
	a.decide(now, pairMessage{V: version, Type: messagePaired, PairPSK: a.psk})
}

// Refuse tells the newcomer so.
func (a *PairingAttempt) Refuse(now time.Time) {
	a.decide(now, pairMessage{V: version, Type: messageRefused})
}

func (a *PairingAttempt) decide(now time.Time, v pairMessage) {
	if !a.confirmed || a.decided || a.done {
		return
	}
	a.decided, a.accepted, a.until = true, v.Type == messagePaired, time.Time{}
	if err := a.sendMessage(now, v); err != nil {
		a.fail(err)
	}
	a.Tick(now)
}

// Tick says that time has passed.
func (a *PairingAttempt) Tick(now time.Time) {
	switch {
	case a.done:
	case a.accepted && a.tx.idle():
		a.done = true
		a.events = append(a.events, Paired{a.Peer()})
	case a.decided && a.tx.idle():
		a.fail(ErrRefused)
	case a.timedOut(now):
		a.fail(ErrUnreachable)
	case !a.until.IsZero() && !now.Before(a.until):
		a.expire()
	}
	a.flush(now)
}

// expire ends the wait. A newcomer that never confirmed was perhaps none, so
// nobody hears of it.
func (a *PairingAttempt) expire() {
	a.until = time.Time{}
	if a.confirmed {
		a.fail(ErrNoAnswer)
	}
	a.done = true
}

// finished says that nothing of the admission matters any more: it ended and its
// owner took notice, or its first message was a replay that nobody stands
// behind.
func (a *PairingAttempt) finished(now time.Time) bool {
	if len(a.events) > 0 || len(a.out) > 0 {
		return false
	}
	return (a.done || !a.confirmed) && !now.Before(a.started.Add(handshakeTimeout)) && a.ackDue.IsZero() && a.tx.idle()
}

// Take returns what is to be done, once.
func (a *PairingAttempt) Take() Output { return a.take(a.next()) }

func (a *PairingAttempt) next() time.Time { return earlier(a.deadline(), a.until) }
