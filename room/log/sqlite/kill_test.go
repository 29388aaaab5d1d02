package sqlite_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestKill kills a process that appends to three rooms, at random points from
// its start on, and opens the log each time: nothing acknowledged is lost, no
// chain is broken, no lock is left behind.
func TestKill(t *testing.T) {
	kills := 50
	if testing.Short() {
		kills = 8
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(7, 7))
	var acked []ack
	during := 0
	for i := range kills {
		before := len(acked)
		acked = append(acked, killed(t, dir, max(0, random.IntN(150)-30), time.Duration(random.IntN(5000))*time.Microsecond)...)
		if len(acked) > before {
			during++
		}
		if i%10 == 9 || i == kills-1 {
			d := open(t, dir)
			holds(t, d, acked)
			for _, name := range childRooms {
				unlock, err := d.Lock(t.Context(), name)
				if err != nil {
					t.Fatal(err)
				}
				unlock()
			}
			if err := d.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(acked) == 0 || during < kills/4 {
		t.Fatalf("%d events acknowledged in %d of %d runs: the test tests nothing", len(acked), during, kills)
	}
	t.Logf("%d kills, %d events acknowledged, none lost", kills, len(acked))
}

// TestKillWhileMaking kills processes that make a new log.
func TestKillWhileMaking(t *testing.T) {
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(3, 3))
	for i := range 12 {
		sub := filepath.Join(dir, strconv.Itoa(i))
		acked := killed(t, sub, 0, time.Duration(random.IntN(25000))*time.Microsecond)
		d := open(t, sub)
		holds(t, d, acked)
		if err := errors.Join(d.Check(t.Context()), d.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// killed runs a child, kills it shortly after a number of acknowledgements, and
// returns all acknowledgements.
func killed(t *testing.T, dir string, after int, moment time.Duration) []ack {
	t.Helper()
	c := command(t, dir, roleAppend)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() { time.AfterFunc(moment, func() { c.Process.Kill() }) }
	if after == 0 {
		kill() // while it opens the log, perhaps
	}
	var got []ack
	failures := acks(out, func(a ack) {
		if got = append(got, a); len(got) == after {
			kill()
		}
	})
	c.Wait()
	if len(failures) > 0 {
		t.Fatalf("the child failed: %v", failures)
	}
	return got
}
