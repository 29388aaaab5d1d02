package session

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A side is one of two devices in a test, with all that its session did.
type side struct {
	*Session
	self   *identity.Device
	peer   identity.Peer
	events []Event
	got    []string
	sent   []string
	lost   []Lost
	late   []time.Time // when each of got came
}

// A wire is the relay between two sides: it decides what becomes of payloads.
type wire struct {
	t     testing.TB
	now   time.Time
	a, b  *side
	delay time.Duration
	queue []delivery
	all   []delivery // whatever was ever sent, for replays
	// bend returns what arrives instead of a delivery; nil: the delivery itself.
	bend  func(delivery) []delivery
	audit map[string][32]byte
}

type delivery struct {
	to      *side
	payload []byte
	at      time.Time
}

func devices(t testing.TB) (a, b *identity.Device) {
	t.Helper()
	a, err := identity.Generate(epoch)
	if err != nil {
		t.Fatal(err)
	}
	b, err = identity.Generate(epoch)
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

func peerOf(d, of *identity.Device, psk []byte) identity.Peer {
	mine := of.Record().NK
	return identity.Peer{ID: d.ID(), Record: d.Record(), PairPSK: psk, Mine: mine[:]}
}

func newWire(t testing.TB) *wire {
	t.Helper()
	da, db := devices(t)
	psk := make([]byte, 32)
	psk[0] = 7
	w := &wire{t: t, now: epoch, delay: 10 * time.Millisecond, audit: map[string][32]byte{}}
	w.a = &side{self: da, peer: peerOf(db, da, psk)}
	w.b = &side{self: db, peer: peerOf(da, db, psk)}
	w.restart(w.a)
	w.restart(w.b)
	return w
}

// restart is what a new process has: the store, and no keys.
func (w *wire) restart(s *side) {
	s.Session = New(Config{Self: s.self, Peer: s.peer})
	s.Session.audit = w.note
}

// note fails the test when a key encrypts two things under one number.
func (w *wire) note(print [32]byte, number uint64, frame []byte) {
	key, sum := fmt.Sprintf("%x/%d", print, number), sha256.Sum256(frame)
	if old, ok := w.audit[key]; ok && old != sum {
		w.t.Fatalf("key %x encrypted two frames under number %d", print[:4], number)
	}
	w.audit[key] = sum
}

func (w *wire) other(s *side) *side {
	if s == w.a {
		return w.b
	}
	return w.a
}

// collect takes what a side wants done.
func (w *wire) collect(s *side) {
	o := s.Take()
	for _, payload := range o.Payloads {
		if len(payload) > maxPayload {
			w.t.Fatalf("a payload of %d bytes", len(payload))
		}
		p := delivery{w.other(s), payload, w.now.Add(w.delay)}
		w.all = append(w.all, p)
		if w.bend == nil {
			w.queue = append(w.queue, p)
			continue
		}
		w.queue = append(w.queue, w.bend(p)...)
	}
	for _, e := range o.Events {
		s.events = append(s.events, e)
		switch e := e.(type) {
		case Delivered:
			s.got = append(s.got, string(e.Message))
			s.late = append(s.late, w.now)
		case Lost:
			s.lost = append(s.lost, e)
		case Rotated:
			s.peer.Record = e.Record
		case Learned:
			s.peer.Mine = e.NK[:]
		}
	}
}

func (w *wire) send(s *side, message string) uint64 {
	w.t.Helper()
	id, err := s.Send(w.now, []byte(message))
	if err != nil {
		w.t.Fatal(err)
	}
	s.sent = append(s.sent, message)
	w.collect(s)
	return id
}

// next is the moment at which something happens.
func (w *wire) next() time.Time {
	var t time.Time
	for _, p := range w.queue {
		t = earlier(t, p.at)
	}
	return earlier(earlier(t, w.a.Deadline()), w.b.Deadline())
}

// run lets d pass, event by event.
func (w *wire) run(d time.Duration) {
	w.t.Helper()
	end := w.now.Add(d)
	for steps := 0; ; steps++ {
		at := w.next()
		if at.IsZero() || at.After(end) {
			break
		}
		if steps > 200_000 {
			w.t.Fatal("the sessions spin")
		}
		if at.After(w.now) {
			w.now = at
		}
		w.arrive()
		for _, s := range []*side{w.a, w.b} {
			s.Tick(w.now)
			w.collect(s)
			if d := s.Deadline(); !d.IsZero() && !d.After(w.now) {
				w.t.Fatalf("the deadline %v stays in the past at %v", d.Sub(epoch), w.now.Sub(epoch))
			}
		}
	}
	w.now = end
}

func (w *wire) arrive() {
	var later []delivery
	due := w.queue
	w.queue = nil
	for _, p := range due {
		if p.at.After(w.now) {
			later = append(later, p)
			continue
		}
		p.to.Receive(w.now, p.payload)
		w.collect(p.to)
	}
	w.queue = append(later, w.queue...)
}

func (s *side) count(is func(Event) bool) (n int) {
	for _, e := range s.events {
		if is(e) {
			n++
		}
	}
	return n
}

func is[T Event](e Event) bool { _, ok := e.(T); return ok }
