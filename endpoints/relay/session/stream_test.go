package session

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestBuckets(t *testing.T) {
	for _, c := range []struct{ body, size int }{{0, 256}, {251, 256}, {252, 1_024}, {1_019, 1_024}, {1_020, 4_096}, {4_091, 4_096}, {16_379, 16_384}, {16_380, 49_152}, {maxBody, 49_152}} {
		plain := encodeData(typeMsg, make([]byte, c.body))
		if len(plain) != c.size {
			t.Errorf("%d bytes are padded to %d, want %d", c.body, len(plain), c.size)
		}
		if _, body, err := decodeData(plain); err != nil || len(body) != c.body {
			t.Errorf("%d bytes: %d, %v", c.body, len(body), err)
		}
	}
	for name, b := range map[string][]byte{
		"no bucket":          make([]byte, 255),
		"no type":            make([]byte, 256),
		"unknown type":       encodeData(4, []byte("x")),
		"too long":           {0: typeMsg, 1: 0xff, 255: 0},
		"padding":            {0: typeMsg, 255: 1},
		"larger than needed": append(encodeData(typeMsg, []byte("x")), make([]byte, 768)...),
	} {
		if _, _, err := decodeData(b); !errors.Is(err, errFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReceiver(t *testing.T) {
	var r receiver
	frame := func(seq uint64) []byte { return fmt.Appendf(nil, "%d", seq) }
	place := func(seq uint64, ready int, fresh bool) {
		t.Helper()
		got, ok := r.insert(seq, frame(seq))
		if len(got) != ready || ok != fresh {
			t.Errorf("frame %d: %d ready, fresh %v; want %d, %v", seq, len(got), ok, ready, fresh)
		}
	}
	place(0, 0, false)
	place(1, 1, true)
	place(1, 0, false)
	place(3, 0, true)
	place(3, 0, false)
	place(66, 0, false) // 65 ahead
	place(65, 0, true)
	place(2, 2, true)
	place(2, 0, false)
	for seq := uint64(5); seq < 65; seq++ {
		place(seq, 0, true)
	}
	place(4, 62, true)
	if r.last != 65 || r.bytes != 0 || len(r.held) != 0 {
		t.Errorf("left over: %+v", r)
	}
	large := make([]byte, 49_152)
	for seq := uint64(67); seq < 100; seq++ {
		r.insert(seq, large)
	}
	if r.bytes > reorderBytes {
		t.Errorf("%d bytes are held", r.bytes)
	}
}

func TestAssemble(t *testing.T) {
	f := func(message uint32, index, count uint16) []byte {
		return fragment{message, index, count, []byte{byte(index)}}.encode()
	}
	var r receiver
	for _, step := range []struct {
		body []byte
		want string
		bad  bool
	}{
		{body: f(1, 0, 2)},
		{body: f(2, 0, 3)},
		{body: f(3, 0, 2), bad: true}, // a third partial message
		{body: f(2, 1, 3)},
		{body: f(2, 1, 3), bad: true}, // duplicate
		{body: f(2, 2, 4), bad: true}, // other count
		{body: f(1, 1, 2), want: "\x00\x01"},
		{body: f(1, 1, 2), bad: true}, // first part missing
		{body: f(2, 2, 3), want: "\x00\x01\x02"},
		{body: f(4, 0, 1), bad: true},
		{body: f(4, 0, maxFragments+1), bad: true},
		{body: f(4, 2, 2), bad: true},
		{body: f(4, 0, 2)[:fragFixed], bad: true},
	} {
		got, err := r.assemble(step.body)
		if string(got) != step.want || (err != nil) != step.bad {
			t.Errorf("%x: %x, %v", step.body, got, err)
		}
	}
	if r.partialBytes() != 0 {
		t.Error("partial messages are left")
	}
}

func TestSendBounds(t *testing.T) {
	w := newTestNet(t)
	if _, err := w.a.Send(w.now, nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("an empty message: %v", err)
	}
	if _, err := w.a.Send(w.now, make([]byte, MaxMessage+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	for range 4 {
		if _, err := w.a.Send(w.now, make([]byte, MaxMessage)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.a.Send(w.now, []byte("x")); !errors.Is(err, ErrQueueFull) {
		t.Errorf("over a mebibyte queued: %v", err)
	}
	w = newTestNet(t)
	for range maxQueuedMessages {
		if _, err := w.a.Send(w.now, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.a.Send(w.now, []byte("x")); !errors.Is(err, ErrQueueFull) {
		t.Errorf("over %d messages queued: %v", maxQueuedMessages, err)
	}
}

// TestWindow: at most 16 frames or 256 KiB are unacknowledged.
func TestWindow(t *testing.T) {
	for _, size := range []int{10, 20_000, 100_000} {
		w := newTestNet(t)
		w.send(w.a, "first")
		w.run(time.Second)
		w.mangle = dropAll
		sent := len(w.history)
		for i := range 10 {
			w.send(w.a, fmt.Sprint(i)+string(make([]byte, size)))
		}
		bytes, frames := 0, 0
		for _, p := range w.history[sent:] {
			if p.payload[0] == kindData {
				frames++
				bytes += len(p.payload)
			}
		}
		if frames > windowFrames || bytes > windowBytes || frames < 5 {
			t.Errorf("%d frames of %d bytes are on the way", frames, bytes)
		}
	}
}

// TestResendsAreTheSame: a resent frame is identical, byte for byte.
func TestResendsAreTheSame(t *testing.T) {
	w := newTestNet(t)
	w.send(w.a, "first")
	w.run(time.Second)
	w.mangle = dropAll
	sent := len(w.history)
	w.send(w.a, "again and again")
	w.run(19 * time.Second)
	var at []time.Duration
	var frame []byte
	for _, p := range w.history[sent:] {
		if p.payload[0] != kindData {
			continue
		}
		if frame != nil && !bytes.Equal(frame, p.payload) {
			t.Error("a resend differs")
		}
		frame = p.payload
		at = append(at, p.at.Sub(w.history[sent].at))
	}
	if want := "[0s 1s 3s 7s 15s]"; fmt.Sprint(at) != want {
		t.Errorf("sent at %v, want %v", at, want)
	}
}

// TestAcknowledgedAhead: an authentic acknowledgement of frames that were never
// sent starts a new stream. It is no violation: behind a hostile relay an
// honest device may have continued an older stream.
func TestAcknowledgedAhead(t *testing.T) {
	w := newTestNet(t)
	w.send(w.a, "first")
	w.run(time.Second)
	w.a.Receive(w.now, w.b.live.sealCtl(typeAck, 99))
	w.collect(w.a)
	if w.a.count(isType[Violated]) != 0 || w.a.live != nil {
		t.Errorf("%v", w.a.events)
	}
	w.send(w.a, "second")
	w.run(10 * time.Second)
	if len(w.b.received) != 2 {
		t.Errorf("no new stream: %q", w.b.received)
	}
}

func TestMessagesBothWays(t *testing.T) {
	w := newTestNet(t)
	w.send(w.a, "first")
	w.send(w.a, "second")
	w.run(time.Second)
	w.send(w.b, "answer")
	large := strings.Repeat("0123456789abcdef", MaxMessage/16)
	w.send(w.a, large)
	w.send(w.a, "after it")
	w.run(5 * time.Second)
	if want := []string{"first", "second", large, "after it"}; !slices.Equal(w.b.received, want) {
		t.Errorf("b got %d messages, want %d, in this order", len(w.b.received), len(want))
	}
	if !slices.Equal(w.a.received, []string{"answer"}) {
		t.Errorf("a got %q", w.a.received)
	}
	if n := w.a.count(isType[Confirmed]); n != 4 {
		t.Errorf("%d of 4 messages confirmed", n)
	}
	if w.a.count(isType[Lost])+w.b.count(isType[Lost])+w.a.count(isType[Violated])+w.b.count(isType[Violated]) != 0 {
		t.Errorf("messages were lost: %v %v", w.a.events, w.b.events)
	}
	if !w.a.Deadline().Equal(w.a.liveSince.Add(keyLifetime)) {
		t.Errorf("deadline of an idle session: %v", w.a.Deadline().Sub(epoch))
	}
}
