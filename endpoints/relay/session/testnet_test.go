package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// An endpoint is one of two devices in a test, with everything that its session
// reported.
type endpoint struct {
	*Session
	self       *identity.Device
	peer       identity.Peer
	events     []Event
	received   []string
	receivedAt []time.Time // when each message arrived
	sent       []string
	// State of the messages that were sent.
	open            map[uint64]string
	confirmed, lost map[string]bool
	lossErrors      []error
}

// A testNet is the relay between two endpoints. It decides what arrives.
type testNet struct {
	t       rapid.TB
	now     time.Time
	a, b    *endpoint
	delay   time.Duration
	queue   []delivery
	history []delivery // everything ever sent, for replays
	// mangle returns the deliveries that replace one; nil: no change.
	mangle func(delivery) []delivery
	audit  map[string][32]byte
	random io.Reader
}

type delivery struct {
	to      *endpoint
	payload []byte
	at      time.Time
}

// devices returns two devices that are the same in each run, so that failures
// are reproducible. a has the lower id.
func devices(t rapid.TB) (a, b *identity.Device) {
	t.Helper()
	pair, err := fixed()
	if err != nil {
		t.Fatal(err)
	}
	return pair[0], pair[1]
}

var fixed = sync.OnceValues(func() (pair [2]*identity.Device, err error) {
	dir, err := os.MkdirTemp("", "moot")
	if err != nil {
		return pair, err
	}
	defer os.RemoveAll(dir)
	for i, seed := range []byte{'a', 'b'} {
		key := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{seed}, 32))
		file := filepath.Join(dir, string(seed))
		text := fmt.Sprintf(`{"v":1,"keys":{"idk":%q,"nk":%q,"not_after":%d}}`, key, key, epoch.Add(identity.RecordLife).Unix())
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return pair, err
		}
		if pair[i], err = identity.Load(file, nil); err != nil {
			return pair, err
		}
	}
	if pair[0].ID().String() > pair[1].ID().String() {
		pair[0], pair[1] = pair[1], pair[0]
	}
	return pair, nil
})

func peerOf(d, of *identity.Device, psk []byte) identity.Peer {
	mine := of.Record().NK
	return identity.Peer{ID: d.ID(), Record: d.Record(), PairPSK: psk, Mine: mine[:]}
}

func newTestNet(t rapid.TB) *testNet {
	t.Helper()
	da, db := devices(t)
	psk := make([]byte, 32)
	psk[0] = 7
	w := &testNet{t: t, now: epoch, delay: 10 * time.Millisecond, audit: map[string][32]byte{}, random: seededRandom()}
	w.a = newEndpoint(da, peerOf(db, da, psk))
	w.b = newEndpoint(db, peerOf(da, db, psk))
	w.restart(w.a)
	w.restart(w.b)
	return w
}

func newEndpoint(self *identity.Device, peer identity.Peer) *endpoint {
	return &endpoint{self: self, peer: peer, open: map[uint64]string{}, confirmed: map[string]bool{}, lost: map[string]bool{}}
}

// restart replaces the session, as a new process does: no keys, the stored
// peer.
func (w *testNet) restart(s *endpoint) {
	s.Session = newSession(Config{Self: s.self, Peer: s.peer}, w.random)
	s.Session.audit = w.auditNonce
}

// auditNonce fails the test if a key encrypts two frames under one number.
func (w *testNet) auditNonce(fingerprint [32]byte, number uint64, frame []byte) {
	key, sum := fmt.Sprintf("%x/%d", fingerprint, number), sha256.Sum256(frame)
	if old, ok := w.audit[key]; ok && old != sum {
		w.t.Fatalf("key %x encrypted two frames under number %d", fingerprint[:4], number)
	}
	w.audit[key] = sum
}

func (w *testNet) other(s *endpoint) *endpoint {
	if s == w.a {
		return w.b
	}
	return w.a
}

// collect handles the output of an endpoint.
func (w *testNet) collect(s *endpoint) {
	o := s.Take()
	for _, payload := range o.Payloads {
		if len(payload) > maxPayload {
			w.t.Fatalf("a payload of %d bytes", len(payload))
		}
		p := delivery{w.other(s), payload, w.now.Add(w.delay)}
		w.history = append(w.history, p)
		if w.mangle == nil {
			w.queue = append(w.queue, p)
			continue
		}
		w.queue = append(w.queue, w.mangle(p)...)
	}
	for _, e := range o.Events {
		s.events = append(s.events, e)
		switch e := e.(type) {
		case Delivered:
			s.received = append(s.received, string(e.Message))
			s.receivedAt = append(s.receivedAt, w.now)
		case Confirmed:
			s.confirmed[s.open[e.ID]] = true
			delete(s.open, e.ID)
		case Lost:
			s.lost[s.open[e.ID]] = true
			s.lossErrors = append(s.lossErrors, e.Err)
			delete(s.open, e.ID)
		case Rotated:
			s.peer.Record = e.Record
		case Learned:
			s.peer.Mine = e.NK[:]
		}
	}
}

func (w *testNet) send(s *endpoint, message string) {
	w.t.Helper()
	if err := w.trySend(s, message); err != nil {
		w.t.Fatal(err)
	}
}

func (w *testNet) trySend(s *endpoint, message string) error {
	id, err := s.Send(w.now, []byte(message))
	if err == nil {
		s.sent = append(s.sent, message)
		s.open[id] = message
	}
	w.collect(s)
	return err
}

// next returns the time of the next delivery or deadline.
func (w *testNet) next() time.Time {
	var t time.Time
	for _, p := range w.queue {
		t = earlier(t, p.at)
	}
	return earlier(earlier(t, w.a.Deadline()), w.b.Deadline())
}

// run advances the clock by d, step by step.
func (w *testNet) run(d time.Duration) {
	w.t.Helper()
	end := w.now.Add(d)
	for steps := 0; ; steps++ {
		at := w.next()
		if at.IsZero() || at.After(end) {
			break
		}
		if steps > 200_000 {
			w.t.Fatal("the sessions do not come to rest")
		}
		if at.After(w.now) {
			w.now = at
		}
		w.arrive()
		for _, s := range []*endpoint{w.a, w.b} {
			s.Tick(w.now)
			w.collect(s)
			if d := s.Deadline(); !d.IsZero() && !d.After(w.now) {
				w.t.Fatalf("the deadline %v stays in the past at %v", d.Sub(epoch), w.now.Sub(epoch))
			}
		}
	}
	w.now = end
}

func (w *testNet) arrive() {
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

// idle reports whether nothing waits to be sent or acknowledged.
func (s *Session) idle() bool { return s.tx.idle() && s.pending == nil }

func (s *endpoint) count(is func(Event) bool) (n int) {
	for _, e := range s.events {
		if is(e) {
			n++
		}
	}
	return n
}

func isType[T Event](e Event) bool { _, ok := e.(T); return ok }

func seededRandom() io.Reader { return rand.NewChaCha8([32]byte{1}) }
