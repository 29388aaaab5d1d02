package sqlite_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// killsOfALog is how often TestKill kills processes of one log: the log is read as a
// whole again and again, so it must not grow without end.
const killsOfALog = 50

// TestKill kills a process that appends to three rooms, at random points from
// its start on, and opens the log after every tenth time: nothing acknowledged is
// lost, no chain is broken, no lock is left behind. MOOT_KILLS sets the number of
// kills, such as 10000.
func TestKill(t *testing.T) {
	kills := 50
	if testing.Short() {
		kills = 8
	}
	if n, err := strconv.Atoi(os.Getenv("MOOT_KILLS")); err == nil {
		kills = n
	}
	random := rand.New(rand.NewPCG(7, 7))
	acked, during, longest := 0, 0, time.Duration(0)
	for done := 0; done < kills; done += killsOfALog {
		n := min(killsOfALog, kills-done)
		t.Setenv("PAGES", []string{"40", "0"}[done/killsOfALog%2]) // checkpoints all the time, or none
		events, inAppend, opening := killOften(t, random, n)
		acked, during, longest = acked+events, during+inAppend, max(longest, opening)
	}
	if acked == 0 || during < kills/4 {
		t.Fatalf("%d events acknowledged in %d of %d runs: the test tests nothing", acked, during, kills)
	}
	t.Logf("%d kills, %d events acknowledged, none lost; reopening took %s at most", kills, acked, longest)
}

// killOften kills n processes of one log. It returns how many events were
// acknowledged, how many processes had acknowledged some, and the longest opening.
func killOften(t *testing.T, random *rand.Rand, n int) (events, during int, longest time.Duration) {
	t.Helper()
	dir := t.TempDir()
	defer os.RemoveAll(dir) // before the test ends: thousands of kills fill the disk
	var acked []ack
	for i := range n {
		before := len(acked)
		acked = append(acked, killed(t, dir, max(0, random.IntN(150)-30), time.Duration(random.IntN(5000))*time.Microsecond)...)
		if len(acked) > before {
			during++
		}
		if i%10 == 9 || i == n-1 {
			longest = max(longest, reopened(t, dir, acked))
		}
	}
	return len(acked), during, longest
}

// reopened opens the log of a killed process, checks that it is whole and free, and
// returns how long opening it took.
func reopened(t *testing.T, dir string, acked []ack) time.Duration {
	t.Helper()
	start := time.Now()
	d := open(t, dir)
	took := time.Since(start)
	holds(t, d, acked)
	for _, name := range childRooms {
		unlock, err := d.Lock(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		unlock()
	}
	if err := errors.Join(d.Check(t.Context()), d.Close()); err != nil {
		t.Fatal(err)
	}
	return took
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
func killed(t testing.TB, dir string, after int, moment time.Duration) []ack {
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
