package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func dropAll(delivery) []delivery { return nil }

// TestCuts: an outage of the relay delays messages; each arrives once.
func TestCuts(t *testing.T) {
	for _, cut := range []time.Duration{59, 60, 61, 120} {
		for _, at := range []time.Duration{0, 5 * time.Millisecond, 15 * time.Millisecond, 500 * time.Millisecond} {
			t.Run(fmt.Sprintf("%ds after %v", cut, at), func(t *testing.T) {
				w := newTestNet(t)
				w.send(w.a, "before")
				w.run(time.Second)
				w.send(w.a, "in the middle")
				w.run(at)
				w.mangle, w.queue = dropAll, nil
				w.run(cut * time.Second / 2)
				w.send(w.b, "unheard")
				w.run(cut * time.Second / 2)
				w.mangle = nil
				w.a.Reconnected(w.now)
				w.collect(w.a)
				healed := w.now
				w.run(20 * time.Second)
				w.checkComplete()
				if !slices.Equal(w.b.received, []string{"before", "in the middle"}) || !slices.Equal(w.a.received, []string{"unheard"}) {
					t.Errorf("got %q and %q; lost %v %v", w.b.received, w.a.received, w.a.lossErrors, w.b.lossErrors)
				}
				for _, late := range w.b.receivedAt[1:] {
					if late.Sub(healed) > 2*time.Second {
						t.Errorf("arrived %v after the outage", late.Sub(healed))
					}
				}
			})
		}
	}
}

// TestCutUnnoticed: resends alone suffice if Reconnected is not called.
func TestCutUnnoticed(t *testing.T) {
	w := newTestNet(t)
	w.send(w.a, "before")
	w.run(time.Second)
	w.mangle = dropAll
	w.send(w.a, "in the middle")
	w.run(120 * time.Second)
	w.mangle = nil
	w.run(15 * time.Second)
	if len(w.b.received) != 2 {
		t.Errorf("got %q", w.b.received)
	}
}

func TestCutTooLong(t *testing.T) {
	w := newTestNet(t)
	w.send(w.a, "before")
	w.run(time.Second)
	w.mangle = dropAll
	w.send(w.a, "lost")
	w.send(w.a, "lost too")
	w.run(150*time.Second - time.Millisecond)
	if len(w.a.lossErrors) != 0 {
		t.Fatalf("gave up too early: %v", w.a.lossErrors)
	}
	w.run(time.Millisecond)
	if len(w.a.lossErrors) != 2 || !errors.Is(w.a.lossErrors[0], ErrUnreachable) {
		t.Fatalf("after 150 s: %v", w.a.lossErrors)
	}
	w.run(time.Second)
	if d := w.a.Deadline(); !d.IsZero() {
		t.Errorf("the session still has a deadline: %v", d)
	}
	w.mangle = nil
	w.send(w.a, "again")
	w.run(time.Second)
	if !slices.Equal(w.b.received, []string{"before", "again"}) {
		t.Errorf("got %q", w.b.received)
	}
	if last := w.b.events[len(w.b.events)-2]; last != (Connected{NewStream: true}) {
		t.Errorf("b got event %v, want Connected{NewStream: true}", last)
	}
	w.checkComplete()
}

// TestPeerOffline: the sender gives up if the peer never answers.
func TestPeerOffline(t *testing.T) {
	w := newTestNet(t)
	w.mangle = dropAll
	w.send(w.a, "lost")
	w.run(time.Hour)
	if len(w.a.lossErrors) != 1 || len(w.history) > 35 {
		t.Errorf("%v after %d payloads", w.a.lossErrors, len(w.history))
	}
}

// TestRestartOfReceiver: a restarted device has no keys. Messages in flight are
// reported as lost and not sent to it again.
func TestRestartOfReceiver(t *testing.T) {
	w := newTestNet(t)
	w.send(w.a, "first")
	w.run(time.Second)
	w.mangle = func(p delivery) []delivery { // b receives it; its acknowledgements are lost
		if p.to == w.a {
			return nil
		}
		return []delivery{p}
	}
	w.send(w.a, "unconfirmed")
	w.run(500 * time.Millisecond)
	w.mangle = nil
	w.kill(w.b)
	w.run(10 * time.Second)
	if len(w.a.lossErrors) != 1 || !errors.Is(w.a.lossErrors[0], ErrForgotten) {
		t.Errorf("a lost %v", w.a.lossErrors)
	}
	w.send(w.a, "next")
	w.run(10 * time.Second)
	if !slices.Equal(w.b.received, []string{"first", "unconfirmed", "next"}) {
		t.Errorf("b got %q", w.b.received)
	}
	w.checkComplete()
}

// TestRestartInSilence: after a long silence the sender probes first, so it
// notices the restart and loses nothing.
func TestRestartInSilence(t *testing.T) {
	w := newTestNet(t)
	w.send(w.a, "first")
	w.run(time.Minute)
	w.kill(w.b)
	w.run(time.Minute)
	w.send(w.a, "second")
	w.run(time.Second)
	if !slices.Equal(w.b.received, []string{"first", "second"}) || len(w.a.lossErrors) != 0 {
		t.Errorf("b got %q; a lost %v", w.b.received, w.a.lossErrors)
	}
}

func TestRestartOfSender(t *testing.T) {
	w := newTestNet(t)
	w.send(w.a, "first")
	w.run(time.Second)
	w.kill(w.a)
	w.send(w.a, "second")
	w.run(6 * time.Second) // one handshake is answered per five seconds
	if !slices.Equal(w.b.received, []string{"first", "second"}) {
		t.Errorf("b got %q", w.b.received)
	}
	w.send(w.b, "answer")
	w.run(time.Second)
	w.checkComplete()
}

// TestRestartInAMessage: a partly sent message does not mix with messages after
// a restart.
func TestRestartInAMessage(t *testing.T) {
	w := newTestNet(t)
	w.send(w.a, "first")
	w.run(time.Second)
	w.mangle = func(p delivery) []delivery {
		if p.payload[0] == kindData && len(w.history)%2 == 0 {
			return nil
		}
		return []delivery{p}
	}
	w.send(w.a, strings.Repeat("x", 200_000))
	w.run(15 * time.Millisecond)
	w.mangle, w.queue = nil, nil
	w.kill(w.a)
	large := strings.Repeat("y", 200_000)
	w.send(w.a, large)
	w.run(20 * time.Second)
	if !slices.Equal(w.b.received, []string{"first", large}) {
		t.Errorf("b got %d messages", len(w.b.received))
	}
}

// TestRekey: messages in flight survive a change of keys.
func TestRekey(t *testing.T) {
	w := newTestNet(t)
	w.send(w.a, "start")
	w.run(time.Second)
	first := w.a.live
	for i := range 200 { // 100 minutes, one message every 30 seconds
		w.send(w.a, fmt.Sprint("a", i))
		w.send(w.b, strings.Repeat("b", 60_000+i))
		w.run(30 * time.Second)
	}
	if w.a.live == first || w.a.live.tag != w.b.live.tag {
		t.Errorf("keys were not replaced, or differ")
	}
	n := 0
	for _, p := range w.history {
		if p.payload[0] == kindHS1 {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d handshakes in 100 minutes, want 2", n)
	}
	if len(w.a.lossErrors)+len(w.b.lossErrors) != 0 || len(w.b.received) != 201 || len(w.a.received) != 200 {
		t.Errorf("lost %v %v", w.a.lossErrors, w.b.lossErrors)
	}
	w.checkComplete()
}

func TestRekeyByCount(t *testing.T) {
	w := newTestNet(t)
	w.send(w.a, "start")
	w.run(time.Second)
	first := w.a.live
	w.a.live.frames = rekeyFrames
	w.send(w.a, "one more")
	w.run(10 * time.Second)
	if w.a.live == first {
		t.Error("no new keys after 2^16 frames")
	}
	w.a.live.frames, w.b.live.frames = keyMaxFrames, keyMaxFrames
	second := w.a.live
	w.mangle = dropAll // no handshake either
	w.send(w.a, "not with these")
	w.run(time.Second)
	for _, p := range w.history {
		if p.payload[0] == kindData && tag(p.payload[1:5]) == second.tag && p.at.After(w.now.Add(-time.Second)) {
			t.Error("a key is used after 2^20 frames")
		}
	}
	w.mangle = nil
	w.run(20 * time.Second)
	w.checkComplete()
	if len(w.b.received) != 3 {
		t.Errorf("b got %q", w.b.received)
	}
}

// TestRekeyWithFramesOnTheWay: frames in flight are resent under the new keys,
// after the old keys have expired.
func TestRekeyWithFramesOnTheWay(t *testing.T) {
	w := newTestNet(t)
	w.send(w.a, "start")
	w.run(time.Second)
	w.mangle = func(p delivery) []delivery {
		if p.payload[0] == kindData {
			return nil
		}
		return []delivery{p}
	}
	for i := range 10 {
		w.send(w.a, fmt.Sprint(i))
	}
	w.run(time.Second)
	w.a.wantHandshake = true
	w.run(40 * time.Second) // new keys; the old ones have expired
	w.mangle = nil
	w.run(20 * time.Second)
	w.checkComplete()
	if len(w.b.received) != 11 || len(w.a.lossErrors) != 0 {
		t.Errorf("b got %d of 11; lost %v", len(w.b.received), w.a.lossErrors)
	}
}
