package session

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A faultInjector changes payloads as a hostile relay may. choose returns a
// random number below n.
type faultInjector struct {
	w            *testNet
	choose       func(n int) int
	dropPercent  int
	faultPercent int // percent of payloads with another fault
}

// mangle returns the deliveries that replace one payload.
func (h *faultInjector) mangle(p delivery) []delivery {
	if h.choose(100) < h.dropPercent {
		return nil
	}
	out := []delivery{p}
	if h.choose(100) >= h.faultPercent {
		return out
	}
	switch h.choose(8) {
	case 0: // duplicate
		out = append(out, p)
	case 1: // delay, so that later ones overtake it
		out[0].at = p.at.Add(time.Duration(h.choose(40)) * time.Second)
	case 2: // flip one bit
		out[0].payload = flip(p.payload, h.choose(8*len(p.payload)))
	case 3: // reflect to the sender
		out = append(out, delivery{h.w.other(p.to), p.payload, p.at})
	case 4: // replay any earlier payload
		old := h.w.history[h.choose(len(h.w.history))]
		out = append(out, delivery{old.to, old.payload, p.at})
	case 5: // replay all earlier messages 1
		for _, old := range h.w.history {
			if old.payload[0] == kindHS1 {
				out = append(out, delivery{old.to, old.payload, p.at})
			}
		}
	case 6: // forge a reset of the live session
		if len(p.payload) > 5 {
			out = append(out, delivery{p.to, resetFrame(tag(p.payload[1:5])), p.at})
		}
	case 7: // truncate, or add random bytes
		if h.choose(2) == 0 {
			out[0].payload = p.payload[:h.choose(len(p.payload))]
		} else {
			out = append(out, delivery{p.to, bytes.Repeat([]byte{byte(h.choose(256))}, h.choose(200)), p.at})
		}
	}
	return out
}

func flip(b []byte, bit int) []byte {
	b = bytes.Clone(b)
	b[bit/8] ^= 1 << (bit % 8)
	return b
}

// checkPrefix checks that received messages were sent, in this order, and
// arrive once, and that no honest device was accused.
func (w *testNet) checkPrefix() {
	w.t.Helper()
	for _, s := range []*endpoint{w.a, w.b} {
		sent := w.other(s).sent
		next := 0
		for _, m := range s.received {
			i := slices.Index(sent[next:], m)
			if i < 0 {
				w.t.Fatalf("received %.20q, which was not sent, is out of order or a duplicate: %d received, %d sent", m, len(s.received), len(sent))
			}
			next += i + 1
		}
		if n := s.count(isType[Violated]); n > 0 {
			w.t.Fatalf("an honest device was reported as a violator: %v", s.events)
		}
	}
}

// checkComplete checks, after the relay behaves again, that each message was
// confirmed or reported lost, and that confirmed ones arrived.
func (w *testNet) checkComplete() {
	w.t.Helper()
	w.checkPrefix()
	for _, s := range []*endpoint{w.a, w.b} {
		got := w.other(s).received
		if len(s.open) > 0 || !s.idle() {
			w.t.Fatalf("%d messages are neither confirmed nor lost; idle: %v", len(s.open), s.idle())
		}
		for _, m := range s.sent {
			arrived := slices.Contains(got, m)
			if s.confirmed[m] && !arrived || !s.confirmed[m] && !arrived && !s.lost[m] {
				w.t.Fatalf("%.20q: confirmed %v, lost %v, arrived %v", m, s.confirmed[m], s.lost[m], arrived)
			}
		}
	}
}

var sizes = []int{1, 200, 3_000, 40_000, 60_000, 200_000}

func scenario(t *rapid.T) {
	w := newTestNet(t)
	choose := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
	dice := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	h := &faultInjector{w: w, choose: dice.IntN, dropPercent: rapid.SampledFrom([]int{0, 10, 30, 60}).Draw(t, "drop"), faultPercent: rapid.SampledFrom([]int{0, 20, 60}).Draw(t, "mean")}
	w.mangle = h.mangle
	for i := range rapid.IntRange(1, 25).Draw(t, "steps") {
		s := []*endpoint{w.a, w.b}[choose(2)]
		switch choose(12) {
		case 0:
			w.run(time.Duration(choose(200)) * time.Second)
		case 1:
			s.Reconnected(w.now)
			w.collect(s)
		case 2:
			w.mangle = func(delivery) []delivery { return nil } // an outage
			w.run(time.Duration(choose(180)) * time.Second)
			w.mangle = h.mangle
		case 3:
			s.wantHandshake = true // force new keys
			s.Tick(w.now)
			w.collect(s)
		case 4:
			if choose(3) == 0 {
				w.kill(s)
			}
		default:
			message := fmt.Sprintf("%d %s", i, strings.Repeat("x", sizes[choose(len(sizes))]))
			w.trySend(s, message)
			w.run(time.Duration(choose(3_000)) * time.Millisecond)
		}
		w.checkPrefix()
	}
	w.mangle = nil
	w.run(400 * time.Second)
	w.checkComplete()
	for _, s := range []*endpoint{w.a, w.b} {
		w.send(s, "last message")
		w.run(30 * time.Second)
		if !s.confirmed["last message"] {
			t.Fatalf("the sessions do not recover: %v", s.lossErrors)
		}
	}
}

// kill restarts a device. Its open messages are lost.
func (w *testNet) kill(s *endpoint) {
	for id, m := range s.open {
		s.lost[m] = true
		delete(s.open, id)
	}
	w.restart(s)
}

func TestHostileRelay(t *testing.T) { rapid.Check(t, scenario) }

func FuzzHostileRelay(f *testing.F) { f.Fuzz(rapid.MakeFuzz(scenario)) }
