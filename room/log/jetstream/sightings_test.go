package jetstream

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestSightings checks when leases end: by the clock of the servers, by that of this process if
// the server that stored the lease had another time, and not at once when no lease could be
// renewed.
func TestSightings(t *testing.T) {
	const lease = 6 * time.Second
	synctest.Test(t, func(t *testing.T) {
		var s sightings
		check := func(what string, row nodeRow, servers time.Time, want bool) {
			t.Helper()
			if got := s.lasts("a", row, servers, lease); got != want {
				t.Errorf("%s: the lease lasts: %v", what, got)
			}
		}
		check("stored long ago", nodeRow{seq: 1, at: time.Now().Add(-lease)}, time.Now(), false)
		row := nodeRow{seq: 2, at: time.Now()}
		for range 5 {
			check("just renewed", row, time.Now(), true)
			time.Sleep(time.Second)
		}
		time.Sleep(time.Second)
		check("not renewed", row, time.Now(), false)

		row = nodeRow{seq: 3, at: time.Now().Add(24 * time.Hour)}
		for range 6 {
			check("of a server whose clock is ahead", row, time.Now(), true)
			time.Sleep(time.Second)
		}
		check("not renewed since", row, time.Now(), false)

		row = nodeRow{seq: 4, at: time.Now()}
		check("before an outage", row, time.Now(), true)
		time.Sleep(lease + time.Second)
		check("directly after an outage", row, time.Now(), true)
		time.Sleep(lease / 10)
		check("not renewed after an outage", row, time.Now(), false)
		time.Sleep(lease)
		check("dead before the next outage", row, time.Now(), false)
	})
}
