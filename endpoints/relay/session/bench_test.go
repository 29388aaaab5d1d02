package session

import (
	"testing"
	"time"
)

// BenchmarkMessage measures a message of 4 KiB and its acknowledgement, with
// the cryptography of both sides and without a network.
func BenchmarkMessage(b *testing.B) {
	w := newTestNet(b)
	w.delay = 0
	w.send(w.a, "first")
	w.run(time.Second)
	w.a.Session.audit, w.b.Session.audit = nil, nil
	message := make([]byte, 4_000)
	now := w.now
	b.SetBytes(int64(len(message)))
	for b.Loop() {
		if _, err := w.a.Send(now, message); err != nil {
			b.Fatal(err)
		}
		for _, payload := range w.a.Take().Payloads {
			w.b.Receive(now, payload)
		}
		for _, payload := range w.b.Take().Payloads {
			w.a.Receive(now, payload)
		}
		w.a.live.frames, w.b.live.frames = 0, 0
		w.a.Take()
	}
	if !w.a.idle() {
		b.Fatal("not acknowledged")
	}
}

// BenchmarkHandshake measures a handshake of both sides up to the first
// message.
func BenchmarkHandshake(b *testing.B) {
	w := newTestNet(b)
	for b.Loop() {
		w.restart(w.a)
		w.restart(w.b)
		w.a.audit, w.b.audit = nil, nil
		w.history, w.a.events, w.b.events = nil, nil, nil
		w.send(w.a, "first")
		w.run(100 * time.Millisecond)
	}
	if len(w.b.received) == 0 {
		b.Fatal("nothing arrived")
	}
}
