package session

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMessagesBothWays(t *testing.T) {
	w := newWire(t)
	w.send(w.a, "first")
	w.send(w.a, "second")
	w.run(time.Second)
	w.send(w.b, "answer")
	large := strings.Repeat("0123456789abcdef", MaxMessage/16)
	w.send(w.a, large)
	w.send(w.a, "after it")
	w.run(5 * time.Second)
	if want := []string{"first", "second", large, "after it"}; !slices.Equal(w.b.got, want) {
		t.Errorf("b got %d messages, want %d, in this order", len(w.b.got), len(want))
	}
	if !slices.Equal(w.a.got, []string{"answer"}) {
		t.Errorf("a got %q", w.a.got)
	}
	if n := w.a.count(is[Confirmed]); n != 4 {
		t.Errorf("%d of 4 messages confirmed", n)
	}
	if w.a.count(is[Lost])+w.b.count(is[Lost])+w.a.count(is[Violated])+w.b.count(is[Violated]) != 0 {
		t.Errorf("losses without a cause: %v %v", w.a.events, w.b.events)
	}
	if !w.a.Deadline().Equal(w.a.born.Add(refuseAfter)) {
		t.Errorf("an idle session wants to be woken at %v", w.a.Deadline().Sub(epoch))
	}
}
