package session

import (
	"bytes"
	"cmp"
	"errors"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

const (
	maxFailedAttempts  = 5 // per failureWindow and invite, with those that a device began again
	failureWindow      = time.Minute
	maxPairingAttempts = 8
)

// An InviteStore holds the invites of a PairingListener. *identity.Invites
// implements it.
type InviteStore interface {
	Lookup(id [16]byte) (identity.Invite, error)
	// Use consumes one use of the invite and saves that before it returns.
	// Errors: identity.ErrInviteExpired, identity.ErrInviteUsed.
	Use(id [16]byte, by identity.DeviceID, now time.Time) error
}

// A PairingListener is the host's side of pairings. It receives message 1 of
// devices that are not peers. Only a message 1 that decrypts consumes a use of
// the invite. Decryption needs the secret of the invite, so the relay, which
// sees only the invite's id, cannot consume it. A PairingListener is driven
// like a Session and is not safe for concurrent use.
type PairingListener struct {
	self     *identity.Device
	name     string
	nameFor  func(invite [16]byte) string // the name for those that use an invite, "" for name; nil: always name
	invites  InviteStore
	failures map[[16]byte]*failureCount
	attempts map[identity.DeviceID]*PairingAttempt
}

type failureCount struct {
	since time.Time
	n     int
}

// NewPairingListener returns a listener without attempts. name is the name of
// this device, which joiners see.
func NewPairingListener(self *identity.Device, name string, book InviteStore) *PairingListener {
	return &PairingListener{self: self, name: identity.CleanName(name), invites: book, failures: map[[16]byte]*failureCount{}, attempts: map[identity.DeviceID]*PairingAttempt{}}
}

// Owns reports whether a payload of the device belongs to a pairing, and not to
// a session that the two devices may already have.
func (l *PairingListener) Owns(from identity.DeviceID, payload []byte) bool {
	if len(payload) > 0 && payload[0] == kindPair1 {
		return true
	}
	a := l.attempts[from]
	return a != nil && a.owns(payload)
}

// Tick advances all pairing attempts to now and returns them. The caller calls
// Take on each.
func (l *PairingListener) Tick(now time.Time) map[identity.DeviceID]*PairingAttempt {
	l.expire(now)
	for _, a := range l.attempts {
		a.Tick(now)
	}
	return l.attempts
}

// Receive handles a payload of a device that is not a peer, or of a peer that
// pairs again. It returns the attempt that the payload belongs to. It returns
// false if it dropped the payload. Errors come from the invite store.
func (l *PairingListener) Receive(now time.Time, from identity.DeviceID, payload []byte) (*PairingAttempt, bool, error) {
	l.expire(now)
	a := l.attempts[from]
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
	return l.attempt(now, from, id, message)
}

// expire removes attempts that are finished and failure counts that are too
// old.
func (l *PairingListener) expire(now time.Time) {
	for id, a := range l.attempts {
		if a.finished(now) {
			delete(l.attempts, id)
		}
	}
	for id, k := range l.failures {
		if !now.Before(k.since.Add(failureWindow)) {
			delete(l.failures, id)
		}
	}
}

// attempt handles a new message 1. It decrypts it and consumes a use of the
// invite.
func (l *PairingListener) attempt(now time.Time, from identity.DeviceID, id [16]byte, message []byte) (*PairingAttempt, bool, error) {
	in, err := l.invites.Lookup(id)
	if errors.Is(err, identity.ErrNoInvite) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if k := l.failures[id]; k != nil && k.n >= maxFailedAttempts || l.attempts[from] == nil && len(l.attempts) >= maxPairingAttempts {
		return nil, false, nil
	}
	a, ok := l.decrypt(now, from, in, message)
	if !ok {
		l.countFailure(now, id)
		return nil, false, nil
	}
	if l.attempts[from] != nil { // each attempt has other digits: a device must not try many
		l.countFailure(now, id)
	}
	if a.version == version { // it does not use the invite up: after an update it can pair
		l.countFailure(now, id)
		return a, l.reply(now, a, ""), nil
	}
	refused := ""
	switch err := l.invites.Use(id, from, now); {
	case errors.Is(err, identity.ErrInviteExpired):
		refused = refusedExpired
	case errors.Is(err, identity.ErrInviteUsed):
		refused = refusedUsed
	case err != nil:
		return nil, false, err
	}
	return a, l.reply(now, a, refused), nil
}

func (l *PairingListener) countFailure(now time.Time, id [16]byte) {
	if l.failures[id] == nil {
		l.failures[id] = &failureCount{since: now}
	}
	l.failures[id].n++
}

// decrypt decrypts message 1 and checks that its sender is the device that the
// relay names. It reports false if not.
func (l *PairingListener) decrypt(now time.Time, from identity.DeviceID, in identity.Invite, message []byte) (*PairingAttempt, bool) {
	static, ok := l.self.Static(in.Host.NK)
	if !ok || in.Host.ID != l.self.ID() || from == l.self.ID() {
		return nil, false
	}
	handshake, err := newResponder(pairNoise(false, in, from, static), message)
	if err != nil {
		return nil, false
	}
	var h joinerHello
	if err := decodePadded(handshake.payload, &h); err != nil || !h.wellFormed() {
		return nil, false
	}
	if h.Record.ID != from || h.Record.NK != handshake.static || h.Record.Check(now) != nil {
		return nil, false
	}
	return &PairingAttempt{
		pairConn: pairConn{channel: newChannel(), version: h.V}, invite: in, handshake: handshake, message1: bytes.Clone(message), record: h.Record, commit: h.Commit,
		request: JoinRequest{
			Invite: in.ID, ID: from, Name: identity.CleanName(h.Name), Capabilities: cleanCapabilities(h.Capabilities),
			Grant: in.Grant, Room: in.Room, Auto: in.Auto,
		},
		psk: newPSK(), until: now.Add(handshakeTimeout), started: now,
	}, true
}

// wellFormed reports whether the hello has a known version and what belongs to
// it.
func (h joinerHello) wellFormed() bool {
	return h.V == version && h.Commit == nil || h.V == pairVersion && len(h.Commit) == len(commitTo(nil))
}

// reply sends message 2 and adds the attempt. refused is the reason if the
// invite is not valid any more.
func (l *PairingListener) reply(now time.Time, a *PairingAttempt, refused string) bool {
	name := l.name
	if l.nameFor != nil {
		name = cmp.Or(identity.CleanName(l.nameFor(a.invite.ID)), name)
	}
	if a.version == version {
		name = oldReleaseName
	}
	payload, err := padded(hostHello{
		V: a.version, Name: name, Grant: a.invite.Grant, Room: a.invite.Room, Limits: ownLimits(), Refused: refused,
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
	a.live = k
	if refused != "" {
		a.done = true // kept for handshakeTimeout, to repeat the reply
	}
	l.attempts[a.request.ID] = a
	return true
}

// A PairingAttempt is the host's side of one pairing with one device. Like a
// Session it has no goroutine and is not safe for concurrent use.
type PairingAttempt struct {
	pairConn
	invite    identity.Invite
	handshake *responder
	message1  []byte
	message2  []byte
	record    identity.KeyRecord
	request   JoinRequest
	commit    []byte // the joiner's commitment to its nonce
	psk       []byte
	started   time.Time
	until     time.Time
	confirmed bool // by a frame under the new keys, which a replay cannot produce
	agreed    bool // the joiner's owner has agreed
	approved  bool // this device's owner has agreed
	decided   bool
	accepted  bool
	refusal   error // why it was refused; nil: this device's owner refused
}

func (a *PairingAttempt) receive(now time.Time, payload []byte) {
	if len(payload) == 0 || len(payload) > maxPayload || payload[0] != kindData && payload[0] != kindCtl {
		a.dropped++
		return
	}
	for _, v := range a.open(now, payload) {
		a.onMessage(now, v)
	}
	a.Tick(now)
}

func (a *PairingAttempt) onMessage(now time.Time, v pairMessage) {
	switch {
	case a.done:
	case v.Type == messageConfirm && !a.confirmed && a.version == version:
		a.confirmed, a.refusal = true, ErrOldRelease
		a.Refuse(now)
	case v.Type == messageConfirm && !a.confirmed && bytes.Equal(commitTo(v.Nonce), a.commit):
		a.confirmed, a.until = true, now.Add(approvalTimeout)
		a.request.Digits = digitsOf(a.live.binding, v.Nonce)
		a.events = append(a.events, JoinRequested{a.request})
	case v.Type == messageAgreed && a.confirmed && !a.agreed:
		a.agreed = true
		a.checkAgreement()
	case v.Type == messageRefused && a.confirmed:
		a.fail(ErrDeclined)
	default:
		a.fail(ErrViolation)
	}
}

// checkAgreement reports that both owners have agreed.
func (a *PairingAttempt) checkAgreement() {
	if a.agreed && a.approved && !a.done && !a.decided {
		a.events = append(a.events, PairingAgreed{})
	}
}

// Approve records that this device's owner has agreed.
func (a *PairingAttempt) Approve(now time.Time) {
	if a.confirmed && !a.approved {
		a.approved = true
		a.checkAgreement()
	}
	a.Tick(now)
}

// Peer returns the peer to store before Accept is called.
func (a *PairingAttempt) Peer() identity.Peer {
	p := identity.Peer{
		ID: a.request.ID, Record: a.record, PairPSK: a.psk, Mine: a.invite.Host.NK[:], Name: a.request.Name,
		Grant: a.invite.Grant, Room: a.invite.Room, Relay: a.invite.Relay, Created: a.started.UTC(), Digits: a.request.Digits,
	}
	if a.invite.Grant == identity.GrantSeat {
		p.Room, p.Seats = "", []identity.SeatRef{{Room: a.invite.Room, Seat: a.invite.Seat}}
	}
	return p
}

// Accept sends the pair's secret to the joiner, after PairingAgreed. Store Peer
// first: a joiner that has the secret of a pairing unknown to the host cannot
// start a session.
func (a *PairingAttempt) Accept(now time.Time) {
	if a.agreed && a.approved {
		a.decide(now, pairMessage{Type: messagePaired, PairPSK: a.psk})
	}
}

// Refuse tells the joiner that the host's owner refused.
func (a *PairingAttempt) Refuse(now time.Time) {
	a.decide(now, pairMessage{Type: messageRefused})
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

// Tick advances the attempt to now.
func (a *PairingAttempt) Tick(now time.Time) {
	switch {
	case a.done:
	case a.accepted && a.tx.idle():
		a.done = true
		a.events = append(a.events, Paired{a.Peer()})
	case a.decided && a.tx.idle():
		a.fail(cmp.Or(a.refusal, ErrRefused))
	case a.timedOut(now):
		a.fail(ErrUnreachable)
	case !a.until.IsZero() && !now.Before(a.until):
		a.expire()
	}
	a.flush(now)
}

// expire ends an attempt whose time is over. An unconfirmed attempt may be a
// replay, so it ends without an event.
func (a *PairingAttempt) expire() {
	a.until = time.Time{}
	if a.confirmed {
		a.fail(ErrNoAnswer)
	}
	a.done = true
}

// finished reports whether the attempt can be forgotten: it ended and its owner
// has taken all output, or its message 1 was never confirmed.
func (a *PairingAttempt) finished(now time.Time) bool {
	if len(a.events) > 0 || len(a.out) > 0 {
		return false
	}
	return (a.done || !a.confirmed) && !now.Before(a.started.Add(handshakeTimeout)) && a.ackDue.IsZero() && a.tx.idle()
}

// Take returns the output since the last call.
func (a *PairingAttempt) Take() Output { return a.take(a.next()) }

func (a *PairingAttempt) next() time.Time { return earlier(a.deadline(), a.until) }
