package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

func nothing(delivery) []delivery { return nil }

// A relay that is gone for a while delays messages; they arrive once.
func TestCuts(t *testing.T) {
	for _, cut := range []time.Duration{59, 60, 61, 120} {
		for _, at := range []time.Duration{0, 5 * time.Millisecond, 15 * time.Millisecond, 500 * time.Millisecond} {
			t.Run(fmt.Sprintf("%ds after %v", cut, at), func(t *testing.T) {
				w := newWire(t)
				w.send(w.a, "before")
				w.run(time.Second)
				w.send(w.a, "in the middle")
				w.run(at)
				w.bend, w.queue = nothing, nil
				w.run(cut * time.Second / 2)
				w.send(w.b, "unheard")
				w.run(cut * time.Second / 2)
				w.bend = nil
				w.a.Reconnected(w.now)
				w.collect(w.a)
				healed := w.now
				w.run(20 * time.Second)
				w.checkComplete()
				if !slices.Equal(w.b.got, []string{"before", "in the middle"}) || !slices.Equal(w.a.got, []string{"unheard"}) {
					t.Errorf("got %q and %q; lost %v %v", w.b.got, w.a.got, w.a.why, w.b.why)
				}
				for _, late := range w.b.late[1:] {
					if late.Sub(healed) > 2*time.Second {
						t.Errorf("arrived %v after the cut", late.Sub(healed))
					}
				}
			})
		}
	}
}

// Without a word about the new connection the resends alone are enough.
func TestCutUnnoticed(t *testing.T) {
	w := newWire(t)
	w.send(w.a, "before")
	w.run(time.Second)
	w.bend = nothing
	w.send(w.a, "in the middle")
	w.run(120 * time.Second)
	w.bend = nil
	w.run(15 * time.Second)
	if len(w.b.got) != 2 {
		t.Errorf("got %q", w.b.got)
	}
}

func TestCutTooLong(t *testing.T) {
	w := newWire(t)
	w.send(w.a, "before")
	w.run(time.Second)
	w.bend = nothing
	w.send(w.a, "lost")
	w.send(w.a, "lost too")
	w.run(150*time.Second - time.Millisecond)
	if len(w.a.why) != 0 {
		t.Fatalf("gave up too early: %v", w.a.why)
	}
	w.run(time.Millisecond)
	if len(w.a.why) != 2 || !errors.Is(w.a.why[0], ErrUnreachable) {
		t.Fatalf("after 150 s: %v", w.a.why)
	}
	w.run(time.Second)
	if d := w.a.Deadline(); !d.IsZero() {
		t.Errorf("still at work: %v", d)
	}
	w.bend = nil
	w.send(w.a, "again")
	w.run(time.Second)
	if !slices.Equal(w.b.got, []string{"before", "again"}) {
		t.Errorf("got %q", w.b.got)
	}
	if last := w.b.events[len(w.b.events)-2]; last != (Connected{Fresh: true}) {
		t.Errorf("b was told %v, not that something may be missing", last)
	}
	w.checkComplete()
}

// Nobody there at all: the first message is given up, not tried for ever.
func TestNobodyAnswers(t *testing.T) {
	w := newWire(t)
	w.bend = nothing
	w.send(w.a, "lost")
	w.run(time.Hour)
	if len(w.a.why) != 1 || len(w.all) > 35 {
		t.Errorf("%v after %d payloads", w.a.why, len(w.all))
	}
}

// A device that was started again has not got its keys. What was on the way
// is reported and never sent to it a second time.
func TestRestartOfReceiver(t *testing.T) {
	w := newWire(t)
	w.send(w.a, "first")
	w.run(time.Second)
	w.bend = func(p delivery) []delivery { // b gets it; a never hears so
		if p.to == w.a {
			return nil
		}
		return []delivery{p}
	}
	w.send(w.a, "unconfirmed")
	w.run(500 * time.Millisecond)
	w.bend = nil
	w.killed(w.b)
	w.run(10 * time.Second)
	if len(w.a.why) != 1 || !errors.Is(w.a.why[0], ErrForgotten) {
		t.Errorf("a was told %v", w.a.why)
	}
	w.send(w.a, "next")
	w.run(10 * time.Second)
	if !slices.Equal(w.b.got, []string{"first", "unconfirmed", "next"}) {
		t.Errorf("b got %q", w.b.got)
	}
	w.checkComplete()
}

// After a silence nothing is risked: the restart is noticed first.
func TestRestartInSilence(t *testing.T) {
	w := newWire(t)
	w.send(w.a, "first")
	w.run(time.Minute)
	w.killed(w.b)
	w.run(time.Minute)
	w.send(w.a, "second")
	w.run(time.Second)
	if !slices.Equal(w.b.got, []string{"first", "second"}) || len(w.a.why) != 0 {
		t.Errorf("b got %q; a lost %v", w.b.got, w.a.why)
	}
}

func TestRestartOfSender(t *testing.T) {
	w := newWire(t)
	w.send(w.a, "first")
	w.run(time.Second)
	w.killed(w.a)
	w.send(w.a, "second")
	w.run(6 * time.Second) // a handshake each five seconds is answered
	if !slices.Equal(w.b.got, []string{"first", "second"}) {
		t.Errorf("b got %q", w.b.got)
	}
	w.send(w.b, "answer")
	w.run(time.Second)
	w.checkComplete()
}

// What one side was halfway through sending does not mix with what it sends
// after a restart.
func TestRestartInAMessage(t *testing.T) {
	w := newWire(t)
	w.send(w.a, "first")
	w.run(time.Second)
	w.bend = func(p delivery) []delivery {
		if p.payload[0] == kindData && len(w.all)%2 == 0 {
			return nil
		}
		return []delivery{p}
	}
	w.send(w.a, strings.Repeat("x", 200_000))
	w.run(15 * time.Millisecond)
	w.bend, w.queue = nil, nil
	w.killed(w.a)
	large := strings.Repeat("y", 200_000)
	w.send(w.a, large)
	w.run(20 * time.Second)
	if !slices.Equal(w.b.got, []string{"first", large}) {
		t.Errorf("b got %d messages", len(w.b.got))
	}
}

// Old keys do not matter any more; what was on the way is not lost.
func TestRekey(t *testing.T) {
	w := newWire(t)
	w.send(w.a, "start")
	w.run(time.Second)
	first := w.a.live
	for i := range 200 { // 100 minutes, one message each half
		w.send(w.a, fmt.Sprint("a", i))
		w.send(w.b, strings.Repeat("b", 60_000+i))
		w.run(30 * time.Second)
	}
	if w.a.live == first || w.a.live.tag != w.b.live.tag {
		t.Errorf("the keys are the first ones, or not the same on both sides")
	}
	n := 0
	for _, p := range w.all {
		if p.payload[0] == kindHS1 {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d handshakes in 100 minutes, want 2", n)
	}
	if len(w.a.why)+len(w.b.why) != 0 || len(w.b.got) != 201 || len(w.a.got) != 200 {
		t.Errorf("lost %v %v", w.a.why, w.b.why)
	}
	w.checkComplete()
}

func TestRekeyByCount(t *testing.T) {
	w := newWire(t)
	w.send(w.a, "start")
	w.run(time.Second)
	first := w.a.live
	w.a.live.frames = rekeyFrames
	w.send(w.a, "one more")
	w.run(10 * time.Second)
	if w.a.live == first {
		t.Error("no new keys after 2^16 frames")
	}
	w.a.live.frames, w.b.live.frames = refuseFrames, refuseFrames
	second := w.a.live
	w.bend = nothing // and no handshake either
	w.send(w.a, "not with these")
	w.run(time.Second)
	for _, p := range w.all {
		if p.payload[0] == kindData && tag(p.payload[1:5]) == second.tag && p.at.After(w.now.Add(-time.Second)) {
			t.Error("a key is used after 2^20 frames")
		}
	}
	w.bend = nil
	w.run(20 * time.Second)
	w.checkComplete()
	if len(w.b.got) != 3 {
		t.Errorf("b got %q", w.b.got)
	}
}

// Frames that are on the way while keys change are sent again under the new
// ones, long after the old ones have gone.
func TestRekeyWithFramesOnTheWay(t *testing.T) {
	w := newWire(t)
	w.send(w.a, "start")
	w.run(time.Second)
	w.bend = func(p delivery) []delivery {
		if p.payload[0] == kindData {
			return nil
		}
		return []delivery{p}
	}
	for i := range 10 {
		w.send(w.a, fmt.Sprint(i))
	}
	w.run(time.Second)
	w.a.want = true
	w.run(40 * time.Second) // new keys, and the old ones are gone
	w.bend = nil
	w.run(20 * time.Second)
	w.checkComplete()
	if len(w.b.got) != 11 || len(w.a.why) != 0 {
		t.Errorf("b got %d of 11; lost %v", len(w.b.got), w.a.why)
	}
}

// Both begin at the same moment: the lower id's handshake counts.
func TestSimultaneousOpen(t *testing.T) {
	w := newWire(t)
	if !w.a.lower() || w.b.lower() {
		t.Fatal("a should have the lower id")
	}
	w.send(w.a, "from a")
	w.send(w.b, "from b")
	w.run(time.Second)
	if w.a.live == nil || w.b.live == nil || w.a.live.tag != w.b.live.tag {
		t.Fatal("no common keys")
	}
	replies := 0
	for _, p := range w.all {
		if p.payload[0] == kindHS2 {
			replies++
			if p.to != w.a {
				t.Error("a answered b's handshake")
			}
		}
	}
	if replies != 1 || len(w.a.got) != 1 || len(w.b.got) != 1 {
		t.Errorf("%d replies, got %q %q", replies, w.a.got, w.b.got)
	}
}

// Half a handshake, in every place where it can break: nothing is lost.
func TestHandshakeBreaks(t *testing.T) {
	for n := range 8 {
		for _, to := range []string{"a", "b", "both"} {
			t.Run(fmt.Sprintf("%s deaf after %d payloads", to, n), func(t *testing.T) {
				w := newWire(t)
				w.bend = func(p delivery) []delivery {
					if len(w.all) > n && (to == "both" || (p.to == w.a) == (to == "a")) {
						return nil
					}
					return []delivery{p}
				}
				w.send(w.a, "from a")
				w.send(w.b, "from b")
				w.run(30 * time.Second)
				w.bend = nil
				w.run(30 * time.Second)
				w.checkComplete()
				if len(w.a.why)+len(w.b.why) > 0 || len(w.a.got) != 1 || len(w.b.got) != 1 {
					t.Errorf("lost %v %v, got %q %q", w.a.why, w.b.why, w.a.got, w.b.got)
				}
			})
		}
	}
}

// A replayed first message changes nothing, however often and when.
func TestReplayedOpening(t *testing.T) {
	w := newWire(t)
	w.send(w.a, "first")
	w.run(time.Second)
	live := w.b.live
	opening := w.all[0]
	for range 140 {
		w.b.Receive(w.now, opening.payload)
		w.collect(w.b)
		w.run(time.Second)
		w.send(w.a, "more")
	}
	w.run(time.Minute)
	if w.b.live != live || w.a.live.tag != live.tag || len(w.b.got) != 141 {
		t.Errorf("a replay had an effect: %d got", len(w.b.got))
	}
	replies := 0
	for _, p := range w.all {
		if p.payload[0] == kindHS2 {
			replies++
		}
	}
	if replies > 36 {
		t.Errorf("%d replies to replays in 140 s", replies)
	}
}

// Resets that nobody meant cost little, and never a session.
func TestForgedResets(t *testing.T) {
	w := newWire(t)
	w.send(w.a, "first")
	w.run(time.Second)
	for range 3600 {
		w.a.Receive(w.now, resetFrame(w.a.live.tag))
		w.collect(w.a)
		w.run(time.Second)
	}
	n := 0
	for _, p := range w.all {
		if p.payload[0] == kindHS1 {
			n++
		}
	}
	if n > 25 {
		t.Errorf("%d handshakes in an hour of forged resets", n)
	}
	w.send(w.a, "second")
	w.run(time.Second)
	if len(w.b.got) != 2 || len(w.a.why) != 0 {
		t.Errorf("got %q, lost %v", w.b.got, w.a.why)
	}
	if fresh := w.a.count(func(e Event) bool { return e == Connected{Fresh: true} }); fresh != 1 {
		t.Errorf("the stream began %d times", fresh)
	}
}

// Each single bit of each kind of payload: a change has no effect but a drop.
func TestEachBit(t *testing.T) {
	w := newWire(t)
	w.send(w.a, "first")
	w.run(time.Second)
	w.send(w.b, "second")
	w.run(time.Second)
	byKind := map[byte]delivery{}
	for _, p := range w.all {
		if p.payload[0] == kindData || p.payload[0] == kindCtl {
			byKind[p.payload[0]] = p
		}
	}
	w.a.Send(w.now, []byte("third"))
	for _, payload := range w.a.Take().Payloads {
		byKind[payload[0]] = delivery{to: w.b, payload: payload}
	}
	for kind, p := range byKind {
		got, live := len(p.to.got), p.to.live
		for bit := range 8 * len(p.payload) {
			p.to.Receive(w.now, flip(p.payload, bit))
			w.collect(p.to)
		}
		if len(p.to.got) != got || p.to.live != live || p.to.rx.bytes != 0 {
			t.Errorf("kind %d: a changed bit had an effect", kind)
		}
	}
	third := byKind[kindData]
	third.to.Receive(w.now, third.payload)
	w.collect(third.to)
	if want := []string{"first", "third"}; !slices.Equal(w.b.got, want) {
		t.Errorf("got %q, want %q: the test sends nothing that could be accepted", w.b.got, want)
	}
}

// Handshakes with each bit changed: nobody answers, and the right one still
// works. Time passes, so that the limit of tries is not what drops them.
func TestEachBitOfHandshake(t *testing.T) {
	w := newWire(t)
	w.bend = nothing
	w.send(w.a, "first")
	first := w.all[0].payload
	for bit := 8; bit < 8*len(first); bit += 5 {
		w.b.Receive(w.now, flip(first, bit))
		w.collect(w.b)
		w.now = w.now.Add(2 * time.Second)
	}
	if len(w.all) != 1 {
		t.Fatal("a changed opening was answered")
	}
	w.killed(w.a)
	w.send(w.a, "again")
	w.b.Receive(w.now, w.all[1].payload)
	w.collect(w.b)
	reply := w.all[2].payload
	if reply[0] != kindHS2 {
		t.Fatal("no reply")
	}
	zero := slices.Concat(reply[:1], make([]byte, 32), reply[33:]) // a point of low order
	for _, bad := range [][]byte{zero, flip(reply, 9), flip(reply, 300), reply[:40], reply[:1], flip(reply, 8*len(reply)-1)} {
		w.a.Receive(w.now, bad)
		w.collect(w.a)
	}
	w.bend = nil
	w.a.Receive(w.now, reply)
	w.collect(w.a)
	w.run(time.Second)
	if !slices.Equal(w.b.got, []string{"again"}) {
		t.Errorf("a bad reply spoiled the handshake: got %q", w.b.got)
	}
}

// Who has the keys but not the secret of the pair is nobody.
func TestWrongSecret(t *testing.T) {
	w := newWire(t)
	w.b.peer.PairPSK = make([]byte, 32)
	w.restart(w.b)
	w.send(w.a, "first")
	w.run(time.Minute)
	for _, p := range w.all {
		if p.to == w.a {
			t.Fatalf("b answered with kind %d", p.payload[0])
		}
	}
}

// The peer's key is good for as long as its record says, by our clock.
func TestRecordExpires(t *testing.T) {
	w := newWire(t)
	w.now = epoch.Add(identity.RecordLife + time.Second)
	w.send(w.a, "too late")
	w.run(30 * time.Second)
	if len(w.b.got) != 0 || w.b.live != nil {
		t.Error("a session with a key that has expired")
	}
}

// A device with a new session key is still known by its old one, and the peer
// learns of the new one in the next handshake.
func TestKeyRotation(t *testing.T) {
	for _, opens := range []string{"the one with the new key", "the other one"} {
		t.Run(opens, func(t *testing.T) {
			w := newWire(t)
			self, err := identity.Generate(epoch)
			if err != nil {
				t.Fatal(err)
			}
			old := self.Record()
			w.a = newSide(self, w.a.peer)
			w.a.peer.Mine = old.NK[:]
			w.b.peer.ID, w.b.peer.Record = self.ID(), old
			if err := self.Rotate(epoch.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			w.restart(w.a)
			w.restart(w.b)
			from := w.a
			if opens == "the other one" {
				from = w.b
			}
			for _, message := range []string{"first", "second", "third"} {
				w.send(from, message)
				w.run(time.Minute)
				w.killed(w.a) // each time with what the store knows
				w.killed(w.b)
			}
			if w.b.peer.Record.NK != self.Record().NK {
				t.Error("b has not learned the new key")
			}
			if now := self.Record().NK; string(w.a.peer.Mine) != string(now[:]) {
				t.Error("a does not know that b knows")
			}
			if got := w.other(from).got; len(got) != 3 || len(from.why) != 0 {
				t.Errorf("got %q, lost %v", got, from.why)
			}
		})
	}
}

// Clocks that differ by a day do not matter between devices.
func TestClockSkew(t *testing.T) {
	w := newWire(t)
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
