package room

import (
	"math"
	"testing"
	"time"
)

func TestRetry(t *testing.T) {
	l := Limits{DeclineRetry: 5 * time.Second, MaxDuration: time.Hour}
	for _, c := range []struct {
		ms   int64
		want time.Duration
	}{
		{0, 5 * time.Second},
		{-1, 5 * time.Second},
		{1, 100 * time.Millisecond}, // no spinning
		{250, 250 * time.Millisecond},
		{60_000, time.Minute},
		{60_001, time.Minute},
		{30 * 60_000, time.Minute}, // one decline does not hold a headless room
		{math.MaxInt64, time.Minute},
	} {
		if got := l.Retry(c.ms); got != c.want {
			t.Errorf("asked for %d ms: %v, want %v", c.ms, got, c.want)
		}
	}
	l.DeclineRetry = time.Millisecond
	if got := l.Retry(0); got != 100*time.Millisecond {
		t.Errorf("a limit under the least: %v", got)
	}
}
