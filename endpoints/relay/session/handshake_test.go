package session

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// TestSimultaneousOpen: if both sides start, the handshake of the lower id
// counts.
func TestSimultaneousOpen(t *testing.T) {
	w := newTestNet(t)
	if !w.a.hasLowerID() || w.b.hasLowerID() {
		t.Fatal("a should have the lower id")
	}
	w.send(w.a, "from a")
	w.send(w.b, "from b")
	w.run(time.Second)
	if w.a.live == nil || w.b.live == nil || w.a.live.tag != w.b.live.tag {
		t.Fatal("no common keys")
	}
	replies := 0
	for _, p := range w.history {
		if p.payload[0] == kindHS2 {
			replies++
			if p.to != w.a {
				t.Error("a answered b's handshake")
			}
		}
	}
	if replies != 1 || len(w.a.received) != 1 || len(w.b.received) != 1 {
		t.Errorf("%d replies, got %q %q", replies, w.a.received, w.b.received)
	}
}

// TestHandshakeBreaks: a handshake that is interrupted at any point loses
// nothing.
func TestHandshakeBreaks(t *testing.T) {
	for n := range 8 {
		for _, to := range []string{"a", "b", "both"} {
			t.Run(fmt.Sprintf("%s receives nothing after %d payloads", to, n), func(t *testing.T) {
				w := newTestNet(t)
				w.mangle = func(p delivery) []delivery {
					if len(w.history) > n && (to == "both" || (p.to == w.a) == (to == "a")) {
						return nil
					}
					return []delivery{p}
				}
				w.send(w.a, "from a")
				w.send(w.b, "from b")
				w.run(30 * time.Second)
				w.mangle = nil
				w.run(30 * time.Second)
				w.checkComplete()
				if len(w.a.lossErrors)+len(w.b.lossErrors) > 0 || len(w.a.received) != 1 || len(w.b.received) != 1 {
					t.Errorf("lost %v %v, got %q %q", w.a.lossErrors, w.b.lossErrors, w.a.received, w.b.received)
				}
			})
		}
	}
}

// TestReplayedMessage1: a replayed message 1 has no effect, at any time.
func TestReplayedMessage1(t *testing.T) {
	w := newTestNet(t)
	w.send(w.a, "first")
	w.run(time.Second)
	live := w.b.live
	opening := w.history[0]
	for range 140 {
		w.b.Receive(w.now, opening.payload)
		w.collect(w.b)
		w.run(time.Second)
		w.send(w.a, "more")
	}
	w.run(time.Minute)
	if w.b.live != live || w.a.live.tag != live.tag || len(w.b.received) != 141 {
		t.Errorf("a replay had an effect: %d messages", len(w.b.received))
	}
	replies := 0
	for _, p := range w.history {
		if p.payload[0] == kindHS2 {
			replies++
		}
	}
	if replies > 36 {
		t.Errorf("%d replies to replays in 140 s", replies)
	}
}

// TestRestartsAreAnsweredAtOnce: a peer that is started again and again within
// seconds, as `moot run` is, waits for no interval: each time its first message
// arrives with one round trip of the handshake.
func TestRestartsAreAnsweredAtOnce(t *testing.T) {
	w := newTestNet(t)
	for run := range replyBurst {
		begun := w.now
		w.send(w.a, fmt.Sprint("run ", run))
		w.run(time.Second)
		if len(w.b.received) != run+1 {
			t.Fatalf("run %d: %q", run, w.b.received)
		}
		if took := w.b.receivedAt[run].Sub(begun); took > 5*w.delay {
			t.Errorf("run %d: the message took %v", run, took)
		}
		w.kill(w.a)
	}
}

// TestHeldBackMessages1: a relay that has recorded many messages 1, and sends
// them all, gets few answers.
func TestHeldBackMessages1(t *testing.T) {
	w := newTestNet(t)
	w.mangle = dropAll
	for range 50 {
		w.send(w.a, "x")
		w.kill(w.a)
	}
	recorded := slices.Clone(w.history)
	for _, p := range recorded {
		w.b.Receive(w.now, p.payload)
		w.collect(w.b)
	}
	if replies := len(w.history) - len(recorded); replies != replyBurst {
		t.Errorf("%d of %d recorded messages were answered at once", replies, len(recorded))
	}
}

// TestForgedResets: forged resets cause few handshakes and never end a session.
func TestForgedResets(t *testing.T) {
	w := newTestNet(t)
	w.send(w.a, "first")
	w.run(time.Second)
	for range 3600 {
		w.a.Receive(w.now, resetFrame(w.a.live.tag))
		w.collect(w.a)
		w.run(time.Second)
	}
	n := 0
	for _, p := range w.history {
		if p.payload[0] == kindHS1 {
			n++
		}
	}
	if n > 25 {
		t.Errorf("%d handshakes in an hour of forged resets", n)
	}
	w.send(w.a, "second")
	w.run(time.Second)
	if len(w.b.received) != 2 || len(w.a.lossErrors) != 0 {
		t.Errorf("got %q, lost %v", w.b.received, w.a.lossErrors)
	}
	if fresh := w.a.count(func(e Event) bool { return e == Connected{NewStream: true} }); fresh != 1 {
		t.Errorf("the stream began %d times", fresh)
	}
}

// TestEachBit: a frame with any bit changed is dropped and has no other effect.
func TestEachBit(t *testing.T) {
	w := newTestNet(t)
	w.send(w.a, "first")
	w.run(time.Second)
	w.send(w.b, "second")
	w.run(time.Second)
	byKind := map[byte]delivery{}
	for _, p := range w.history {
		if p.payload[0] == kindData || p.payload[0] == kindCtl {
			byKind[p.payload[0]] = p
		}
	}
	w.a.Send(w.now, []byte("third"))
	for _, payload := range w.a.Take().Payloads {
		byKind[payload[0]] = delivery{to: w.b, payload: payload}
	}
	for kind, p := range byKind {
		got, live := len(p.to.received), p.to.live
		for bit := range 8 * len(p.payload) {
			p.to.Receive(w.now, flip(p.payload, bit))
			w.collect(p.to)
		}
		if len(p.to.received) != got || p.to.live != live || p.to.rx.bytes != 0 {
			t.Errorf("kind %d: a changed bit had an effect", kind)
		}
	}
	third := byKind[kindData]
	third.to.Receive(w.now, third.payload)
	w.collect(third.to)
	if want := []string{"first", "third"}; !slices.Equal(w.b.received, want) {
		t.Errorf("got %q, want %q: the test sends nothing that could be accepted", w.b.received, want)
	}
}

// TestEachBitOfHandshake: modified handshake messages get no answer, and the
// original still works. Time passes between them, so that the rate limit is not
// the reason.
func TestEachBitOfHandshake(t *testing.T) {
	w := newTestNet(t)
	w.mangle = dropAll
	w.send(w.a, "first")
	first := w.history[0].payload
	for bit := 8; bit < 8*len(first); bit += 5 {
		w.b.Receive(w.now, flip(first, bit))
		w.collect(w.b)
		w.now = w.now.Add(2 * time.Second)
	}
	if len(w.history) != 1 {
		t.Fatal("a modified message 1 was answered")
	}
	w.kill(w.a)
	w.send(w.a, "again")
	w.b.Receive(w.now, w.history[1].payload)
	w.collect(w.b)
	reply := w.history[2].payload
	if reply[0] != kindHS2 {
		t.Fatal("no reply")
	}
	zero := slices.Concat(reply[:1], make([]byte, 32), reply[33:]) // a public key of low order
	for _, bad := range [][]byte{zero, flip(reply, 9), flip(reply, 300), reply[:40], reply[:1], flip(reply, 8*len(reply)-1)} {
		w.a.Receive(w.now, bad)
		w.collect(w.a)
	}
	w.mangle = nil
	w.a.Receive(w.now, reply)
	w.collect(w.a)
	w.run(time.Second)
	if !slices.Equal(w.b.received, []string{"again"}) {
		t.Errorf("an invalid message 2 broke the handshake: got %q", w.b.received)
	}
}

// TestWrongSecret: a device with the keys but without the pair's secret gets no
// answer.
func TestWrongSecret(t *testing.T) {
	w := newTestNet(t)
	w.b.peer.PairPSK = make([]byte, 32)
	w.restart(w.b)
	w.send(w.a, "first")
	w.run(time.Minute)
	for _, p := range w.history {
		if p.to == w.a {
			t.Fatalf("b answered with kind %d", p.payload[0])
		}
	}
}

// TestRecordExpires: a peer's key is valid until its record expires, by our
// clock.
func TestRecordExpires(t *testing.T) {
	w := newTestNet(t)
	w.now = epoch.Add(identity.RecordLife + time.Second)
	w.send(w.a, "too late")
	w.run(30 * time.Second)
	if len(w.b.received) != 0 || w.b.live != nil {
		t.Error("a session was made with an expired key")
	}
}

// TestKeyRotation: a peer accepts the previous session key, and learns the new
// one in the next handshake.
func TestKeyRotation(t *testing.T) {
	for _, opens := range []string{"device with the new key", "its peer"} {
		t.Run(opens, func(t *testing.T) {
			w := newTestNet(t)
			self, err := identity.Generate(epoch)
			if err != nil {
				t.Fatal(err)
			}
			old := self.Record()
			w.a = newEndpoint(self, w.a.peer)
			w.a.peer.Mine = old.NK[:]
			w.b.peer.ID, w.b.peer.Record = self.ID(), old
			if err := self.Rotate(epoch.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			w.restart(w.a)
			w.restart(w.b)
			from := w.a
			if opens == "its peer" {
				from = w.b
			}
			for _, message := range []string{"first", "second", "third"} {
				w.send(from, message)
				w.run(time.Minute)
				w.kill(w.a) // each time with the keys in the store
				w.kill(w.b)
			}
			if w.b.peer.Record.NK != self.Record().NK {
				t.Error("b has not learned the new key")
			}
			if now := self.Record().NK; string(w.a.peer.Mine) != string(now[:]) {
				t.Error("a does not know that b knows")
			}
			if got := w.other(from).received; len(got) != 3 || len(from.lossErrors) != 0 {
				t.Errorf("got %q, lost %v", got, from.lossErrors)
			}
		})
	}
}

// TestClockSkew: clocks that differ by a day do not matter.
func TestClockSkew(t *testing.T) {
	w := newTestNet(t)
	skew := 26 * time.Hour
	for i := range 40 {
		at := w.now.Add(time.Duration(i) * time.Second)
		if _, err := w.a.Send(at, []byte("x")); err != nil {
			t.Fatal(err)
		}
		for range 6 {
			for _, payload := range w.a.Take().Payloads {
				w.b.Receive(at.Add(-skew), payload)
			}
			for _, payload := range w.b.Take().Payloads {
				w.a.Receive(at, payload)
			}
		}
	}
	if w.b.rx.last != 40 {
		t.Errorf("b has %d of 40", w.b.rx.last)
	}
}

// TestLatecomer: message 1 is lost because the peer is not online yet. When the
// peer then sends its own message 1, neither side waits for the next resend,
// whichever has the lower id.
func TestLatecomer(t *testing.T) {
	for _, lower := range []bool{true, false} {
		w := newTestNet(t)
		first, second := w.a, w.b // a has the lower id
		if !lower {
			first, second = w.b, w.a
		}
		w.mangle = func(delivery) []delivery { return nil } // the peer is offline
		w.send(first, "early")
		w.run(300 * time.Millisecond)
		w.mangle = nil
		w.send(second, "late")
		w.run(time.Second)
		if len(first.received) != 1 || len(second.received) != 1 {
			t.Errorf("lower id first: %t: after a second %d and %d messages have come", lower, len(first.received), len(second.received))
		}
	}
}
