package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// roleCharge is the role of a child that reserves and settles charges of one agent, as
// far as a limit of all processes allows, until it is killed.
const roleCharge = "charge"

// maxCharges is the limit.
const maxCharges = 3000

// chargeUntilKilled prints a line for each charge that is stored.
func chargeUntilKilled(d *sqlite.DB) {
	at := time.Unix(1_800_000_000, 0)
	for i := range 1_000_000 {
		c := room.BudgetCharge{ID: fmt.Sprintf("%d.%d", os.Getpid(), i), Agent: "a", Room: "r", At: at, Amounts: room.Amounts{Tokens: 1, Turns: 1}}
		ok, err := d.Reserve(context.Background(), c, at.Add(-time.Hour), func(others []room.BudgetCharge) bool { return len(others) < maxCharges })
		if errors.Is(err, log.ErrBusy) {
			continue
		}
		if err != nil || !ok {
			return
		}
		fmt.Println("reserved", c.ID)
		c.Tokens = 7
		if err := d.Settle(context.Background(), c); err == nil {
			fmt.Println("settled", c.ID)
		}
	}
}

// TestKillWhileCharging kills pairs of processes that charge one agent, and checks that
// each charge which was acknowledged is stored once, with the amounts of its last write.
func TestKillWhileCharging(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 5))
	var mu sync.Mutex
	acked := map[string]string{} // the last word about each charge
	for range 6 {
		var running sync.WaitGroup
		for range 2 {
			after, moment := 1+random.IntN(60), time.Duration(random.IntN(3000))*time.Microsecond
			running.Go(func() {
				c := command(t, dir, roleCharge)
				out, err := c.StdoutPipe()
				if err == nil {
					err = c.Start()
				}
				if err != nil {
					t.Error(err)
					return
				}
				lines := bufio.NewScanner(out)
				for n := 1; lines.Scan(); n++ {
					word, id, _ := strings.Cut(lines.Text(), " ")
					mu.Lock()
					acked[id] = word
					mu.Unlock()
					if n == after {
						time.AfterFunc(moment, func() { c.Process.Kill() })
					}
				}
				c.Wait()
			})
		}
		running.Wait()
	}
	d := open(t, dir)
	defer d.Close()
	charges, err := d.Charges(t.Context(), "a", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	settled := 0
	stored := map[string]room.BudgetCharge{}
	for _, c := range charges {
		stored[c.ID] = c
	}
	for id, word := range acked {
		c, ok := stored[id]
		if !ok || word == "settled" && (c.Open || c.Tokens != 7) {
			t.Errorf("%s is %s, and stored as %+v", id, word, c)
		}
		if word == "settled" {
			settled++
		}
	}
	if len(stored) != len(charges) || settled == 0 {
		t.Errorf("%d charges with %d ids, %d settled", len(charges), len(stored), settled)
	}
	if err := d.Release(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	if charges, err = d.Charges(t.Context(), "a", time.Time{}); err != nil || len(charges) < settled {
		t.Errorf("after the release %d charges, %v", len(charges), err)
	}
	for _, c := range charges {
		if c.Open {
			t.Errorf("%+v is open", c)
		}
	}
	if err := d.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestOlderReleases checks that charges change nothing that earlier releases look at, and
// that a file without the table is read.
func TestOlderReleases(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	version := sqlite.Version(t, dir)
	if err := d.Settle(t.Context(), room.BudgetCharge{ID: "q", Agent: "a", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if now := sqlite.Version(t, dir); now != version {
		t.Errorf("the schema is now of version %d, not %d", now, version)
	}
	r, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if charges, err := r.Charges(t.Context(), "a", time.Time{}); err != nil || len(charges) != 1 {
		t.Errorf("reading only: %+v, %v", charges, err)
	}
	if err := r.Settle(t.Context(), room.BudgetCharge{ID: "p", Agent: "a"}); !errors.Is(err, log.ErrFailed) {
		t.Errorf("writing to a log that is read only: %v", err)
	}
}

// TestDamagedCharge checks that a charge which cannot be read is an error and not free.
func TestDamagedCharge(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	defer d.Close()
	if err := d.Settle(t.Context(), room.BudgetCharge{ID: "q", Agent: "a", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	sqlite.Exec(t, dir, "update charges set tokens = -5")
	if _, err := d.Charges(t.Context(), "a", time.Time{}); !errors.Is(err, log.ErrCorrupt) {
		t.Errorf("a negative amount: %v", err)
	}
}

// BenchmarkCharges reads a day with one turn a minute.
func BenchmarkCharges(b *testing.B) {
	d := open(b, b.TempDir())
	defer d.Close()
	now := time.Now()
	for i := range 1440 {
		if err := d.Settle(b.Context(), room.BudgetCharge{ID: fmt.Sprint(i), Agent: "a", At: now.Add(-time.Duration(i) * time.Minute)}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := d.Charges(b.Context(), "a", now.Add(-24*time.Hour)); err != nil {
			b.Fatal(err)
		}
	}
}
