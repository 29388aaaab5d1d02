package session

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// A pairingFixture is a pairing listener, a joiner, and the relay between them.
type pairingFixture struct {
	t                        *testing.T
	now                      time.Time
	host, device             *identity.Device
	invites                  *identity.Invites
	invite                   identity.Invite
	listener                 *PairingListener
	joiner                   *Joiner
	requests                 []JoinRequest
	hostEvents, joinerEvents []Event
	toHost, toJoiner         [][]byte // everything that was sent
	dropToHost               bool
	dropToJoiner             bool
}

func newPairingFixture(t *testing.T, in identity.Invite) *pairingFixture {
	t.Helper()
	p := &pairingFixture{t: t, now: epoch}
	p.host, p.device = devices(t)
	var err error
	if p.invites, err = identity.OpenInvites(filepath.Join(t.TempDir(), "invites.json")); err != nil {
		t.Fatal(err)
	}
	in.Relay = "wss://relay.example"
	if p.invite, err = identity.NewInvite(p.host, in, epoch); err != nil {
		t.Fatal(err)
	}
	if err := p.invites.Add(p.invite, epoch); err != nil {
		t.Fatal(err)
	}
	p.listener = NewPairingListener(p.host, "the host", p.invites)
	p.joiner = p.newJoiner(p.device, p.invite)
	return p
}

func (p *pairingFixture) newJoiner(self *identity.Device, in identity.Invite) *Joiner {
	p.t.Helper()
	j, err := NewJoiner(p.now, self, in, "new\u202ecomer\n", []string{"review", "\x00"})
	if err != nil {
		p.t.Fatal(err)
	}
	return j
}

// run forwards payloads and advances the clock by d.
func (p *pairingFixture) run(d time.Duration) {
	p.t.Helper()
	end := p.now.Add(d)
	for range 10_000 {
		moved := p.exchange()
		if moved {
			continue
		}
		next := p.joiner.next()
		for _, a := range p.listener.attempts {
			next = earlier(next, a.next())
		}
		if next.IsZero() || next.After(end) {
			p.now = end
			p.listener.Tick(p.now)
			return
		}
		if !next.After(p.now) {
			p.t.Fatal("a deadline stays in the past")
		}
		p.now = next
		p.joiner.Tick(p.now)
		p.listener.Tick(p.now)
	}
	p.t.Fatal("the pairing does not come to rest")
}

func (p *pairingFixture) exchange() (moved bool) {
	o := p.joiner.Take()
	p.joinerEvents = append(p.joinerEvents, o.Events...)
	for _, payload := range o.Payloads {
		moved = true
		p.toHost = append(p.toHost, payload)
		if !p.dropToHost {
			if _, _, err := p.listener.Receive(p.now, p.device.ID(), payload); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	for _, a := range p.listener.Tick(p.now) {
		o := a.Take()
		p.hostEvents = append(p.hostEvents, o.Events...)
		for _, e := range o.Events {
			switch e := e.(type) {
			case JoinRequested:
				p.requests = append(p.requests, e.Request)
			case PairingAgreed: // as a Link does when it has stored the peer
				a.Accept(p.now)
			}
		}
		for _, payload := range o.Payloads {
			moved = true
			p.toJoiner = append(p.toJoiner, payload)
			if !p.dropToJoiner {
				p.joiner.Receive(p.now, payload)
			}
		}
	}
	return moved
}

func (p *pairingFixture) attempt() *PairingAttempt {
	p.t.Helper()
	a := p.listener.attempts[p.device.ID()]
	if a == nil {
		p.t.Fatal("there is no pairing attempt")
	}
	return a
}

// agree has both owners agree.
func (p *pairingFixture) agree() {
	p.t.Helper()
	p.joiner.Agree(p.now)
	p.attempt().Approve(p.now)
	p.run(time.Second)
}

func pairingError(events []Event) error {
	for _, e := range events {
		if f, ok := e.(PairingFailed); ok {
			return f.Err
		}
	}
	return nil
}

func pairedPeers(events []Event) (peers []identity.Peer) {
	for _, e := range events {
		if p, ok := e.(Paired); ok {
			peers = append(peers, p.Peer)
		}
	}
	return peers
}

func TestPairing(t *testing.T) {
	p := newPairingFixture(t, identity.Invite{Grant: identity.GrantObserver, Room: "room1"})
	p.run(time.Second)
	if len(p.requests) != 1 {
		t.Fatalf("the host was asked %d times", len(p.requests))
	}
	n := p.requests[0]
	waiting, ok := p.joinerEvents[0].(AwaitingApproval)
	if n.ID != p.device.ID() || n.Name != "new comer" || len(n.Capabilities) != 1 || n.Auto || n.Grant != identity.GrantObserver || n.Room != "room1" {
		t.Errorf("the host sees %+v", n)
	}
	if !ok || waiting.Digits != n.Digits || len(n.Digits) != 13 || waiting.Host != "the host" {
		t.Errorf("digits %q and %+v", n.Digits, waiting)
	}
	p.run(10 * time.Minute) // time for a person to decide
	stored := p.attempt().Peer()
	p.agree()
	p.run(time.Second)
	host, joined := pairedPeers(p.hostEvents), pairedPeers(p.joinerEvents)
	if len(host) != 1 || len(joined) != 1 {
		t.Fatalf("%v %v", p.hostEvents, p.joinerEvents)
	}
	if !bytes.Equal(stored.PairPSK, host[0].PairPSK) || !bytes.Equal(host[0].PairPSK, joined[0].PairPSK) || bytes.Equal(stored.PairPSK, make([]byte, 32)) {
		t.Error("the two do not share a secret")
	}
	for _, payload := range append(p.toHost, p.toJoiner...) {
		if bytes.Contains(payload, stored.PairPSK) || bytes.Contains(payload, []byte("comer")) || bytes.Contains(payload, []byte("room1")) {
			t.Error("the relay sees a secret or a name")
		}
	}
	// the pair can open a session
	w := &testNet{t: t, now: p.now, audit: map[string][32]byte{}, random: seededRandom()}
	w.a, w.b = newEndpoint(p.host, host[0]), newEndpoint(p.device, joined[0])
	w.restart(w.a)
	w.restart(w.b)
	w.send(w.a, "hello")
	w.run(time.Second)
	if len(w.b.received) != 1 {
		t.Error("paired, but no session")
	}
}

func TestPairingOverALossyRelay(t *testing.T) {
	p := newPairingFixture(t, identity.Invite{})
	for i := range 8 {
		p.dropToHost, p.dropToJoiner = i%2 == 0, i%3 == 0
		p.run(3 * time.Second)
	}
	p.dropToHost, p.dropToJoiner = false, false
	p.run(10 * time.Second)
	p.agree()
	p.dropToJoiner = true
	p.run(5 * time.Second)
	p.dropToJoiner = false
	p.run(20 * time.Second)
	if len(pairedPeers(p.hostEvents)) != 1 || len(pairedPeers(p.joinerEvents)) != 1 || len(p.requests) != 1 {
		t.Errorf("%v %v", p.hostEvents, p.joinerEvents)
	}
}

func TestPairingRefused(t *testing.T) {
	p := newPairingFixture(t, identity.Invite{})
	p.run(time.Second)
	p.joiner.Agree(p.now)
	p.attempt().Refuse(p.now)
	p.attempt().Approve(p.now) // too late
	p.attempt().Accept(p.now)
	p.run(time.Second)
	if err := pairingError(p.joinerEvents); !errors.Is(err, ErrRefused) || len(pairedPeers(p.joinerEvents))+len(pairedPeers(p.hostEvents)) != 0 {
		t.Errorf("%v %v", p.hostEvents, p.joinerEvents)
	}
}

func TestApprovalTimeout(t *testing.T) {
	p := newPairingFixture(t, identity.Invite{})
	p.run(time.Hour)
	if !errors.Is(pairingError(p.joinerEvents), ErrNoAnswer) || !errors.Is(pairingError(p.hostEvents), ErrNoAnswer) {
		t.Errorf("%v %v", p.hostEvents, p.joinerEvents)
	}
	if len(p.listener.attempts) != 0 {
		t.Error("the listener still holds the attempt")
	}
}

func TestExpiredInvite(t *testing.T) {
	p := newPairingFixture(t, identity.Invite{})
	p.now = p.invite.Expires.Add(time.Second)
	p.joiner = p.newJoiner(p.device, p.invite)
	p.run(time.Minute)
	if err := pairingError(p.joinerEvents); !errors.Is(err, identity.ErrInviteExpired) || len(p.requests) != 0 {
		t.Errorf("%v, asked %v", err, p.requests)
	}
}

func TestReusedInvite(t *testing.T) {
	p := newPairingFixture(t, identity.Invite{})
	p.run(time.Second)
	p.agree()
	p.run(time.Minute)
	other, err := identity.Generate(epoch)
	if err != nil {
		t.Fatal(err)
	}
	p.device, p.joinerEvents = other, nil
	p.joiner = p.newJoiner(other, p.invite)
	p.run(time.Minute)
	if err := pairingError(p.joinerEvents); !errors.Is(err, identity.ErrInviteUsed) || len(p.requests) != 1 {
		t.Errorf("%v, asked %v", err, p.requests)
	}
}

// TestFailedAttempts: the relay sees the invite's id and can send any number of
// messages 1 with it. Five a minute are decrypted, and none consumes the
// invite.
func TestFailedAttempts(t *testing.T) {
	p := newPairingFixture(t, identity.Invite{})
	message1 := p.joiner.Take().Payloads[0]
	for i := range 1000 {
		var stranger [32]byte
		stranger[0], stranger[1] = byte(i), byte(i>>8)
		if _, ok, err := p.listener.Receive(p.now, stranger, message1); ok || err != nil {
			t.Fatal("a message 1 of another device was accepted")
		}
	}
	if n := p.listener.failures[p.invite.ID].n; n != maxFailedAttempts {
		t.Errorf("%d messages 1 were decrypted in a minute", n)
	}
	if _, ok, _ := p.listener.Receive(p.now, p.device.ID(), message1); ok {
		t.Error("more than five in a minute are decrypted")
	}
	if open, err := p.invites.List(p.now); err != nil || len(open) != 1 {
		t.Errorf("the invite is gone: %v", err)
	}
	p.now = p.now.Add(time.Minute)
	p.joiner = p.newJoiner(p.device, p.invite)
	p.run(time.Second)
	if len(p.requests) != 1 {
		t.Error("a minute later the joiner is not accepted")
	}
}

func TestEachBitOfMessage1(t *testing.T) {
	p := newPairingFixture(t, identity.Invite{})
	message1 := p.joiner.Take().Payloads[0]
	for bit := 0; bit < 8*len(message1); bit += 3 {
		if _, ok, err := p.listener.Receive(p.now, p.device.ID(), flip(message1, bit)); ok || err != nil {
			t.Fatalf("bit %d: accepted", bit)
		}
		p.now = p.now.Add(15 * time.Second)
	}
	if len(p.listener.attempts) != 0 || len(p.listener.failures) > 5 {
		t.Error("failed attempts leave state behind")
	}
}

// TestReplayedPairing: a replayed message 1 causes no request for approval.
func TestReplayedPairing(t *testing.T) {
	p := newPairingFixture(t, identity.Invite{})
	message1 := p.joiner.Take().Payloads[0]
	for range 20 {
		if _, _, err := p.listener.Receive(p.now, p.device.ID(), message1); err != nil {
			t.Fatal(err)
		}
		for _, a := range p.listener.Tick(p.now) {
			a.Take()
		}
		p.now = p.now.Add(20 * time.Second)
	}
	p.listener.Tick(p.now)
	if len(p.listener.attempts) != 0 {
		t.Error("the listener keeps a replay")
	}
	p.exchange()
	if len(p.requests) != 0 {
		t.Error("a replay requested approval")
	}
}

// TestNoInvite: a device without a valid invite gets no answer.
func TestNoInvite(t *testing.T) {
	p := newPairingFixture(t, identity.Invite{})
	if err := p.invites.Remove(p.invite.ID); err != nil {
		t.Fatal(err)
	}
	p.run(3 * time.Minute)
	if len(p.toJoiner) != 0 || !errors.Is(pairingError(p.joinerEvents), ErrUnreachable) {
		t.Errorf("%d answers; %v", len(p.toJoiner), p.joinerEvents)
	}
}
