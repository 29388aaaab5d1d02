package delivery

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRates(t *testing.T) {
	b := Bound{Every: 10 * time.Second, Burst: 3}
	var r Rates
	for i, want := range []time.Duration{0, 0, 0, 10, 20, 30} { // seconds
		if got := max(0, r.Free("a", "b", b)); got != want*time.Second {
			t.Errorf("message %d is free at %v, want %vs", i+1, got, int(want))
		}
		r = r.Count("a", "b", 0, b)
	}
	if r.Free("b", "a", b) > 0 || r.Free("a", "c", b) > 0 {
		t.Error("another pair waits")
	}
	if r = r.Count("c", "a", time.Hour, b); len(r) != 1 {
		t.Errorf("%d pairs are kept after an hour", len(r))
	}
}

// TestRatesBound checks over random messages that in no window of time more are free
// than the bound allows.
func TestRatesBound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := Bound{Every: 10 * time.Second, Burst: rapid.IntRange(1, 4).Draw(rt, "burst")}
		var r Rates
		var free []time.Duration
		now := time.Duration(0)
		for range rapid.IntRange(1, 40).Draw(rt, "messages") {
			now += time.Duration(rapid.IntRange(0, 15).Draw(rt, "wait")) * time.Second
			at := max(now, r.Free("a", "b", b))
			r = r.Count("a", "b", now, b)
			for i, first := range free {
				if n := len(free) - i + 1; n > b.Burst+int((at-first)/b.Every) {
					rt.Fatalf("%d messages from %v to %v", n, first, at)
				}
			}
			if n := len(free); n > 0 && at < free[n-1] {
				rt.Fatalf("a message overtakes another: %v after %v", at, free[n-1])
			}
			free = append(free, at)
		}
	})
}
