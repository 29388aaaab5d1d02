package session

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// A porch is a host's door and a newcomer, and the relay between them.
type porch struct {
	t             *testing.T
	now           time.Time
	host, self    *identity.Device
	book          *identity.Invites
	invite        identity.Invite
	door          *Door
	join          *Join
	asked         []Newcomer
	atHost, atNew []Event
	toHost, toNew [][]byte // whatever was sent
	deafHost      bool
	deafNew       bool
}

func newPorch(t *testing.T, in identity.Invite) *porch {
	t.Helper()
	p := &porch{t: t, now: epoch}
	p.host, p.self = devices(t)
	var err error
	if p.book, err = identity.OpenInvites(filepath.Join(t.TempDir(), "invites.json")); err != nil {
		t.Fatal(err)
	}
	in.Relay = "wss://relay.example"
	if p.invite, err = identity.NewInvite(p.host, in, epoch); err != nil {
		t.Fatal(err)
	}
	if err := p.book.Add(p.invite, epoch); err != nil {
		t.Fatal(err)
	}
	p.door = NewDoor(p.host, "the host", p.book)
	p.join = p.newJoin(p.self, p.invite)
	return p
}

func (p *porch) newJoin(self *identity.Device, in identity.Invite) *Join {
	p.t.Helper()
	j, err := NewJoin(p.now, self, in, "new\u202ecomer\n", []string{"review", "\x00"})
	if err != nil {
		p.t.Fatal(err)
	}
	return j
}

// run passes payloads on until nothing moves for d.
func (p *porch) run(d time.Duration) {
	p.t.Helper()
	end := p.now.Add(d)
	for range 10_000 {
		moved := p.exchange()
		if moved {
			continue
		}
		next := p.join.next()
		for _, a := range p.door.guest {
			next = earlier(next, a.next())
		}
		if next.IsZero() || next.After(end) {
			p.now = end
			p.door.Tick(p.now)
			return
		}
		if !next.After(p.now) {
			p.t.Fatal("a deadline stays in the past")
		}
		p.now = next
		p.join.Tick(p.now)
		p.door.Tick(p.now)
	}
	p.t.Fatal("the pairing spins")
}

func (p *porch) exchange() (moved bool) {
	o := p.join.Take()
	p.atNew = append(p.atNew, o.Events...)
	for _, payload := range o.Payloads {
		moved = true
		p.toHost = append(p.toHost, payload)
		if !p.deafHost {
			if _, _, err := p.door.Receive(p.now, p.self.ID(), payload); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	for _, a := range p.door.Tick(p.now) {
		o := a.Take()
		p.atHost = append(p.atHost, o.Events...)
		for _, e := range o.Events {
			if e, ok := e.(Asked); ok {
				p.asked = append(p.asked, e.Newcomer)
			}
		}
		for _, payload := range o.Payloads {
			moved = true
			p.toNew = append(p.toNew, payload)
			if !p.deafNew {
				p.join.Receive(p.now, payload)
			}
		}
	}
	return moved
}

func (p *porch) admission() *Admission {
	p.t.Helper()
	a := p.door.guest[p.self.ID()]
	if a == nil {
		p.t.Fatal("nobody is at the door")
	}
	return a
}

func failure(events []Event) error {
	for _, e := range events {
		if f, ok := e.(Failed); ok {
			return f.Err
		}
	}
	return nil
}

func pairedOf(events []Event) (peers []identity.Peer) {
	for _, e := range events {
		if p, ok := e.(Paired); ok {
			peers = append(peers, p.Peer)
		}
	}
	return peers
}

func TestPairing(t *testing.T) {
	p := newPorch(t, identity.Invite{Grant: identity.GrantObserver, Room: "room1"})
	p.run(time.Second)
	if len(p.asked) != 1 {
		t.Fatalf("the host was asked %d times", len(p.asked))
	}
	n := p.asked[0]
	waiting, ok := p.atNew[0].(Waiting)
	if n.ID != p.self.ID() || n.Name != "new comer" || len(n.Capabilities) != 1 || n.Auto || n.Grant != identity.GrantObserver || n.Room != "room1" {
		t.Errorf("the host sees %+v", n)
	}
	if !ok || waiting.Digits != n.Digits || len(n.Digits) != 13 || waiting.Host != "the host" {
		t.Errorf("digits %q and %+v", n.Digits, waiting)
	}
	p.run(10 * time.Minute) // a person thinks
	stored := p.admission().Peer()
	p.admission().Accept(p.now)
	p.run(time.Second)
	host, joined := pairedOf(p.atHost), pairedOf(p.atNew)
	if len(host) != 1 || len(joined) != 1 {
		t.Fatalf("%v %v", p.atHost, p.atNew)
	}
	if !bytes.Equal(stored.PairPSK, host[0].PairPSK) || !bytes.Equal(host[0].PairPSK, joined[0].PairPSK) || bytes.Equal(stored.PairPSK, make([]byte, 32)) {
		t.Error("the two do not share a secret")
	}
	for _, payload := range append(p.toHost, p.toNew...) {
		if bytes.Contains(payload, stored.PairPSK) || bytes.Contains(payload, []byte("comer")) || bytes.Contains(payload, []byte("room1")) {
			t.Error("the relay sees a secret or a name")
		}
	}
	// and they can talk
	w := &wire{t: t, now: p.now, audit: map[string][32]byte{}, random: cheapRandom()}
	w.a, w.b = newSide(p.host, host[0]), newSide(p.self, joined[0])
	w.restart(w.a)
	w.restart(w.b)
	w.send(w.a, "hello")
	w.run(time.Second)
	if len(w.b.got) != 1 {
		t.Error("paired, but no session")
	}
}

func TestPairingOverALossyRelay(t *testing.T) {
	p := newPorch(t, identity.Invite{})
	for i := range 8 {
		p.deafHost, p.deafNew = i%2 == 0, i%3 == 0
		p.run(3 * time.Second)
	}
	p.deafHost, p.deafNew = false, false
	p.run(10 * time.Second)
	p.admission().Accept(p.now)
	p.deafNew = true
	p.run(5 * time.Second)
	p.deafNew = false
	p.run(20 * time.Second)
	if len(pairedOf(p.atHost)) != 1 || len(pairedOf(p.atNew)) != 1 || len(p.asked) != 1 {
		t.Errorf("%v %v", p.atHost, p.atNew)
	}
}

func TestPairingRefused(t *testing.T) {
	p := newPorch(t, identity.Invite{})
	p.run(time.Second)
	p.admission().Refuse(p.now)
	p.admission().Accept(p.now) // too late
	p.run(time.Second)
	if err := failure(p.atNew); !errors.Is(err, ErrRefused) || len(pairedOf(p.atNew))+len(pairedOf(p.atHost)) != 0 {
		t.Errorf("%v %v", p.atHost, p.atNew)
	}
}

func TestNobodyDecides(t *testing.T) {
	p := newPorch(t, identity.Invite{})
	p.run(time.Hour)
	if !errors.Is(failure(p.atNew), ErrNoAnswer) || !errors.Is(failure(p.atHost), ErrNoAnswer) {
		t.Errorf("%v %v", p.atHost, p.atNew)
	}
	if len(p.door.guest) != 0 {
		t.Error("the door still holds the newcomer")
	}
}

func TestExpiredInvite(t *testing.T) {
	p := newPorch(t, identity.Invite{})
	p.now = p.invite.Expires.Add(time.Second)
	p.join = p.newJoin(p.self, p.invite)
	p.run(time.Minute)
	if err := failure(p.atNew); !errors.Is(err, identity.ErrInviteExpired) || len(p.asked) != 0 {
		t.Errorf("%v, asked %v", err, p.asked)
	}
}

func TestReusedInvite(t *testing.T) {
	p := newPorch(t, identity.Invite{})
	p.run(time.Second)
	p.admission().Accept(p.now)
	p.run(time.Minute)
	other, err := identity.Generate(epoch)
	if err != nil {
		t.Fatal(err)
	}
	p.self, p.atNew = other, nil
	p.join = p.newJoin(other, p.invite)
	p.run(time.Minute)
	if err := failure(p.atNew); !errors.Is(err, identity.ErrInviteUsed) || len(p.asked) != 1 {
		t.Errorf("%v, asked %v", err, p.asked)
	}
}

// The relay sees the invite's id and can knock with it as often as it likes.
// Five a minute are tried, and none uses the invite up.
func TestBadKnocks(t *testing.T) {
	p := newPorch(t, identity.Invite{})
	knock := p.join.Take().Payloads[0]
	for i := range 1000 {
		var stranger [32]byte
		stranger[0], stranger[1] = byte(i), byte(i>>8)
		if _, ok, err := p.door.Receive(p.now, stranger, knock); ok || err != nil {
			t.Fatal("a message of somebody else was accepted under another name")
		}
	}
	if n := p.door.bad[p.invite.ID].n; n != badKnocks {
		t.Errorf("%d bad knocks were tried in a minute", n)
	}
	if _, ok, _ := p.door.Receive(p.now, p.self.ID(), knock); ok {
		t.Error("more than five in a minute are tried")
	}
	if open, err := p.book.List(p.now); err != nil || len(open) != 1 {
		t.Errorf("the invite is gone: %v", err)
	}
	p.now = p.now.Add(time.Minute)
	p.join = p.newJoin(p.self, p.invite)
	p.run(time.Second)
	if len(p.asked) != 1 {
		t.Error("a minute later the right one is not let in")
	}
}

func TestEachBitOfKnock(t *testing.T) {
	p := newPorch(t, identity.Invite{})
	knock := p.join.Take().Payloads[0]
	for bit := 0; bit < 8*len(knock); bit += 3 {
		if _, ok, err := p.door.Receive(p.now, p.self.ID(), flip(knock, bit)); ok || err != nil {
			t.Fatalf("bit %d: accepted", bit)
		}
		p.now = p.now.Add(15 * time.Second)
	}
	if len(p.door.guest) != 0 || len(p.door.bad) > 5 {
		t.Error("bad knocks leave something behind")
	}
}

// A knock that is replayed after its pairing makes nobody ask a person.
func TestReplayedKnock(t *testing.T) {
	p := newPorch(t, identity.Invite{})
	knock := p.join.Take().Payloads[0]
	for range 20 {
		if _, _, err := p.door.Receive(p.now, p.self.ID(), knock); err != nil {
			t.Fatal(err)
		}
		for _, a := range p.door.Tick(p.now) {
			a.Take()
		}
		p.now = p.now.Add(20 * time.Second)
	}
	p.door.Tick(p.now)
	if len(p.door.guest) != 0 {
		t.Error("a replay stays at the door")
	}
	p.exchange()
	if len(p.asked) != 0 {
		t.Error("a replay asked a person")
	}
}

// Strangers without an invite get no answer at all.
func TestNoInvite(t *testing.T) {
	p := newPorch(t, identity.Invite{})
	if err := p.book.Remove(p.invite.ID); err != nil {
		t.Fatal(err)
	}
	p.run(3 * time.Minute)
	if len(p.toNew) != 0 || !errors.Is(failure(p.atNew), ErrUnreachable) {
		t.Errorf("%d answers; %v", len(p.toNew), p.atNew)
	}
}
