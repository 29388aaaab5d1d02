package session

import (
	"testing"
	"time"
)

// TestLatecomer: the first message of a handshake is lost, because the other
// device was not there yet. When that one knocks, nobody waits for the next
// repetition, whichever of the two has the lower id.
func TestLatecomer(t *testing.T) {
	for _, lower := range []bool{true, false} {
		w := newWire(t)
		first, second := w.a, w.b // a has the lower id
		if !lower {
			first, second = w.b, w.a
		}
		w.bend = func(delivery) []delivery { return nil } // nobody is there
		w.send(first, "early")
		w.run(300 * time.Millisecond)
		w.bend = nil
		w.send(second, "late")
		w.run(time.Second)
		if len(first.got) != 1 || len(second.got) != 1 {
			t.Errorf("lower id first: %t: after a second %d and %d messages have come", lower, len(first.got), len(second.got))
		}
	}
}
