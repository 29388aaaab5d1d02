package session

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// reusable is an InviteStore of one invite, which can be used at any time.
type reusable struct{ in identity.Invite }

func (r reusable) Lookup([16]byte) (identity.Invite, error)         { return r.in, nil }
func (r reusable) Use([16]byte, identity.DeviceID, time.Time) error { return nil }

// TestDigitsCannotBeGround: an attacker has given the joiner an invite of its
// own, and answers message 1 last. It tries answers until the digits that it
// can compute from all that it knows begin as it wishes. Without a commitment,
// as in version 1, those would be the digits that the joiner sees. With it the
// joiner sees others.
func TestDigitsCannotBeGround(t *testing.T) {
	const wanted, rounds, tries = "4", 15, 300 // the first of the twelve digits: one answer in ten has it
	for name, guess := range map[string]func(a *PairingAttempt) string{
		"from the handshake":  func(a *PairingAttempt) string { return digitsOf(a.live.binding, nil) },
		"from the commitment": func(a *PairingAttempt) string { return digitsOf(a.live.binding, a.commit) },
		"with its own nonce":  func(a *PairingAttempt) string { return digitsOf(a.live.binding, filled(7)) },
	} {
		hits := 0
		for range rounds {
			p := newPairingFixture(t, identity.Invite{})
			message1 := p.joiner.Take().Payloads[0]
			var best []byte
			for range tries {
				attacker := NewPairingListener(p.host, "ann", reusable{p.invite}) // each answer has a new key
				a, ok, err := attacker.Receive(p.now, p.device.ID(), message1)
				if !ok || err != nil {
					t.Fatal("no answer", err)
				}
				if strings.HasPrefix(guess(a), wanted) {
					best = a.message2
					break
				}
			}
			if best == nil {
				t.Fatalf("%s: no answer in %d has the digits: the test does not attack", name, tries)
			}
			p.joiner.Receive(p.now, best)
			for _, e := range p.joiner.Take().Events {
				if w, ok := e.(AwaitingApproval); ok && strings.HasPrefix(w.Digits, wanted) {
					hits++
				}
			}
		}
		if hits > 11 { // 1.5 are expected; over 11 have a probability below 10^-9
			t.Errorf("%s: the attacker chose the digits %d times of %d", name, hits, rounds)
		}
	}
}

// TestFewAttempts: a device that holds the invite and begins again and again gets
// few answers, and so few digits to choose from.
func TestFewAttempts(t *testing.T) {
	p := newPairingFixture(t, identity.Invite{})
	answers := 0
	for range 50 {
		message1 := p.newJoiner(p.device, p.invite).Take().Payloads[0]
		if _, ok, err := p.listener.Receive(p.now, p.device.ID(), message1); err != nil {
			t.Fatal(err)
		} else if ok {
			answers++
		}
	}
	if answers != maxFailedAttempts+1 {
		t.Errorf("%d answers, want %d", answers, maxFailedAttempts+1)
	}
	p.now = p.now.Add(failureWindow)
	if _, ok, err := p.listener.Receive(p.now, p.device.ID(), p.joiner.Take().Payloads[0]); !ok || err != nil {
		t.Error("no answer after the window", err)
	}
}

// TestNonceIsBound: an attacker that joins cannot reveal another nonce than the
// one that it committed to before it saw the host's answer.
func TestNonceIsBound(t *testing.T) {
	for name, nonce := range map[string][]byte{"another": newNonce(), "none": nil, "the commitment": commitTo(make([]byte, nonceSize))} {
		p := newPairingFixture(t, identity.Invite{})
		for _, payload := range p.joiner.Take().Payloads {
			if _, _, err := p.listener.Receive(p.now, p.device.ID(), payload); err != nil {
				t.Fatal(err)
			}
		}
		p.joiner.nonce = nonce
		p.joiner.Receive(p.now, p.attempt().Take().Payloads[0])
		p.run(time.Second)
		if err := pairingError(p.hostEvents); !errors.Is(err, ErrViolation) || len(p.requests) != 0 {
			t.Errorf("%s: %v, asked %v", name, err, p.requests)
		}
	}
}

// TestDigitsOfBothSides: the digits change with the joiner's nonce, and with
// what either side has sent.
func TestDigitsOfBothSides(t *testing.T) {
	seen := map[string]bool{}
	binding, nonce := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	other := bytes.Repeat([]byte{3}, 32)
	for _, d := range []string{digitsOf(binding, nonce), digitsOf(other, nonce), digitsOf(binding, other)} {
		seen[d] = true
	}
	// Two pairings with one invite differ by the keys of both sides alone.
	for range 2 {
		p := newPairingFixture(t, identity.Invite{})
		p.joiner.nonce = nonce
		p.run(time.Second)
		seen[p.joiner.digits()] = true
	}
	if len(seen) != 5 {
		t.Errorf("equal digits: %v", seen)
	}
	if bytes.Equal(commitTo(nonce), commitTo(other)) || bytes.Equal(commitTo(nonce), nonce) {
		t.Error("a commitment is no commitment")
	}
}

// TestOldJoiner: a joiner of a release without a commitment is refused, sees
// why as far as its release can show it, and does not use the invite up.
func TestOldJoiner(t *testing.T) {
	p := newPairingFixture(t, identity.Invite{})
	payload, err := padded(joinerHello{V: version, Record: p.device.Record(), Name: "old"})
	if err != nil {
		t.Fatal(err)
	}
	static, _ := p.device.Static(p.device.Record().NK)
	p.joiner.version = version
	if p.joiner.handshake, err = newInitiator(pairNoise(true, p.invite, p.device.ID(), static), payload); err != nil {
		t.Fatal(err)
	}
	p.joiner.Take()
	p.joiner.sendMessage1(p.now)
	for _, payload := range p.joiner.Take().Payloads {
		if _, _, err := p.listener.Receive(p.now, p.device.ID(), payload); err != nil {
			t.Fatal(err)
		}
	}
	a := p.attempt()
	answer, keys, err := p.joiner.handshake.readMessage2(a.Take().Payloads[0][17:])
	if err != nil {
		t.Fatal(err)
	}
	var hello hostHello
	if err := decodePadded(answer, &hello); err != nil || hello.V != 1 || hello.Refused != "" || !strings.Contains(hello.Name, "update it") {
		t.Errorf("the old release is told %+v, %v", hello, err)
	}
	p.joiner.handshake, p.joiner.live = nil, keys
	if err := p.joiner.sendMessage(p.now, pairMessage{Type: messageConfirm}); err != nil {
		t.Fatal(err)
	}
	p.joiner.Tick(p.now)
	p.run(time.Minute)
	if err := pairingError(p.hostEvents); !errors.Is(err, ErrOldRelease) || len(p.requests) != 0 {
		t.Errorf("the host: %v, asked %v", err, p.requests)
	}
	if err := pairingError(p.joinerEvents); !errors.Is(err, ErrRefused) {
		t.Errorf("the old joiner: %v", err)
	}
	if open, err := p.invites.List(p.now); err != nil || len(open) != 1 {
		t.Errorf("the invite is used up: %v", err)
	}
}

// TestOldHost: this device does not use an invite of a release without a
// commitment.
func TestOldHost(t *testing.T) {
	p := newPairingFixture(t, identity.Invite{})
	old := p.invite
	old.Commitment = false
	text, err := identity.ParseInvite(old.String())
	if err != nil || text != old {
		t.Fatalf("%+v, %v", text, err)
	}
	if _, err := NewJoiner(p.now, p.device, text, "new", nil); !errors.Is(err, ErrOldRelease) {
		t.Errorf("%v", err)
	}
}

// TestNothingBeforeYes: the host sends the secret only when both owners have
// agreed, and a joiner takes none before its own owner has.
func TestNothingBeforeYes(t *testing.T) {
	p := newPairingFixture(t, identity.Invite{})
	p.run(time.Second)
	p.attempt().Accept(p.now) // refused: no owner has agreed
	p.attempt().Approve(p.now)
	p.attempt().Accept(p.now) // refused: the joiner's owner has not
	p.run(time.Minute)
	if len(pairedPeers(p.joinerEvents))+len(pairedPeers(p.hostEvents)) != 0 {
		t.Fatal("paired before the joiner's owner agreed")
	}
	// A host that does not keep to this is not believed.
	if err := p.attempt().sendMessage(p.now, pairMessage{Type: messagePaired, PairPSK: newPSK()}); err != nil {
		t.Fatal(err)
	}
	p.attempt().Tick(p.now)
	p.run(time.Second)
	if err := pairingError(p.joinerEvents); !errors.Is(err, ErrViolation) || len(pairedPeers(p.joinerEvents)) != 0 {
		t.Errorf("%v", p.joinerEvents)
	}
}

// TestJoinerDeclines: the host learns of a no, and nothing is paired.
func TestJoinerDeclines(t *testing.T) {
	p := newPairingFixture(t, identity.Invite{Auto: true})
	p.run(time.Second)
	p.attempt().Approve(p.now)
	p.joiner.Decline(p.now)
	p.joiner.Agree(p.now) // too late
	p.run(time.Minute)
	if !errors.Is(pairingError(p.joinerEvents), ErrDeclined) || !errors.Is(pairingError(p.hostEvents), ErrDeclined) {
		t.Errorf("%v %v", p.hostEvents, p.joinerEvents)
	}
	if len(pairedPeers(p.joinerEvents))+len(pairedPeers(p.hostEvents)) != 0 {
		t.Error("paired")
	}
}
