package human

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 400: "0 µs", 310_000: "310 µs", 42 * time.Millisecond: "42 ms", 999_400 * time.Microsecond: "999 ms",
		999_600 * time.Microsecond: "1 s", time.Second: "1 s", 1234 * time.Millisecond: "1.2 s", 1960 * time.Millisecond: "2 s",
		9960 * time.Millisecond: "10 s", 12_300 * time.Millisecond: "12 s", 59_700 * time.Millisecond: "1 min",
		time.Minute: "1 min", 90 * time.Second: "1 min 30 s", 15*time.Minute + 3281*time.Microsecond: "15 min",
		time.Hour - time.Millisecond: "1 h", time.Hour + 29*time.Second: "1 h", 2*time.Hour + 5*time.Minute: "2 h 5 min",
		48 * time.Hour: "2 days", 76 * time.Hour: "3 days 4 h", -1500 * time.Millisecond: "-1.5 s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%d ns is %q, want %q", d, got, want)
		}
	}
}
