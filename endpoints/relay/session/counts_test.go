package session

import (
	"bytes"
	"testing"
	"testing/synctest"
)

// TestLinkCounts: what a relay forges, replays, mangles or brings from
// strangers changes nothing and is counted.
func TestLinkCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, host, guest := couple(t)
		var passed [][]byte
		x.mu.Lock()
		x.tap = func(to [32]byte, payload []byte) {
			if to == guest.self.ID() && payload[0] == kindData {
				passed = append(passed, bytes.Clone(payload))
			}
		}
		x.mu.Unlock()
		for _, m := range []string{"one", "two"} {
			if err := host.Send(t.Context(), guest.self.ID(), []byte(m)); err != nil {
				t.Fatal(err)
			}
			if got := guest.message(t); got != m {
				t.Fatalf("got %q", got)
			}
		}
		synctest.Wait()
		before := guest.Counts()
		if before.Delivered != 2 || before.Dropped+before.Repeated+before.Strangers+before.Violations+before.Lost != 0 {
			t.Errorf("without anything wrong: %+v", before)
		}
		for _, p := range passed {
			guest.Deliver(host.self.ID(), bytes.Clone(p)) // replayed
			p[len(p)-1] ^= 1
			guest.Deliver(host.self.ID(), p) // mangled
		}
		guest.Deliver(host.self.ID(), nil)
		guest.Deliver(host.self.ID(), []byte("forged"))
		guest.Deliver([32]byte{7}, []byte("from a stranger"))
		synctest.Wait()
		got, n := guest.Counts(), uint64(len(passed))
		want := before
		want.Received, want.Dropped, want.Repeated, want.Strangers = before.Received+2*n+3, n+2, n, 1
		if got != want || n < 2 {
			t.Errorf("after %d frames: %+v, want %+v", n, got, want)
		}
		guest.stop()
		for range parcelQueue + 5 {
			guest.Deliver(host.self.ID(), []byte("too much"))
		}
		if n := guest.Counts().Overflowed; n != 5 {
			t.Errorf("%d payloads were too many, want 5", n)
		}
	})
}
