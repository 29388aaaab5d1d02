package logtest

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// always allows a reservation.
func always([]room.BudgetCharge) bool { return true }

func charge(id, agent string, at time.Time, tokens int64) room.BudgetCharge {
	return room.BudgetCharge{ID: id, Agent: agent, Room: "r", Turn: 1, At: at, Amounts: room.Amounts{Tokens: tokens, Turns: 1}}
}

func (f *fixture) charges(agent string, since time.Time) []room.BudgetCharge {
	f.t.Helper()
	all, err := f.Charges(f.ctx, agent, since)
	must(f.t, err)
	return all
}

func (f *fixture) reserve(c room.BudgetCharge, may func([]room.BudgetCharge) bool) bool {
	f.t.Helper()
	ok, err := f.Reserve(f.ctx, c, c.At.Add(-time.Hour), may)
	must(f.t, err)
	return ok
}

func testLedger(t *testing.T, f *fixture) {
	if got := f.charges("a", time.Time{}); len(got) != 0 {
		t.Fatalf("an empty ledger has %+v", got)
	}
	must(t, f.Release(f.ctx, "r"))
	if n, err := f.Reset(f.ctx, "a"); n != 0 || err != nil {
		t.Fatalf("resetting an empty ledger: %d, %v", n, err)
	}
	estimate := charge("q1", "a", noon, 10)
	estimate.Estimated = true
	if !f.reserve(estimate, func(others []room.BudgetCharge) bool { return len(others) == 0 }) {
		t.Fatal("the first charge was refused")
	}
	estimate.Open = true
	if got := f.charges("a", time.Time{}); len(got) != 1 || got[0] != estimate {
		t.Fatalf("reserved %+v, want %+v", got, estimate)
	}
	settled := room.BudgetCharge{ID: "q1", Agent: "a", Room: "r", Turn: 1, At: noon.Add(time.Second), Amounts: room.Amounts{Tokens: 30, Cost: 4, Turns: 1, Calls: 2, ToolCalls: 3}}
	for range 2 { // a retry
		must(t, f.Settle(f.ctx, settled))
	}
	again := settled
	again.Tokens, again.Estimated = 10, true
	must(t, f.Settle(f.ctx, again)) // an interruption after a crash: it is closed
	f.reopen()
	if got := f.charges("a", time.Time{}); len(got) != 1 || got[0] != settled {
		t.Fatalf("settled %+v, want %+v", got, settled)
	}
	if !f.reserve(charge("q1", "a", noon.Add(time.Minute), 99), func(others []room.BudgetCharge) bool { return len(others) == 0 }) || f.charges("a", time.Time{})[0] != settled {
		t.Error("a request was charged twice, or it counts against itself")
	}
	must(t, f.Settle(f.ctx, charge("q2", "a", noon.Add(-time.Hour), 5)))
	if got := f.charges("a", noon.Add(-time.Hour)); len(got) != 1 {
		t.Errorf("from after 11:00 there is %+v", got)
	}
	if got := f.charges("a", noon.Add(-time.Hour-1)); len(got) != 2 || got[0].ID != "q2" {
		t.Errorf("oldest first: %+v", got)
	}
	if got := f.charges("b", time.Time{}); len(got) != 0 {
		t.Errorf("another agent has %+v", got)
	}
}

// testLedgerTimes checks that a clock that is set back moves no charge to the past, and
// that old charges are dropped at last.
func testLedgerTimes(t *testing.T, f *fixture) {
	f.reserve(charge("q1", "a", noon, 10), always)
	must(t, f.Settle(f.ctx, charge("q1", "a", noon.Add(-24*time.Hour), 10)))
	if got := f.charges("a", noon.Add(-time.Hour)); len(got) != 1 || !got[0].At.Equal(noon) {
		t.Errorf("after the clock was set back: %+v", got)
	}
	f.reserve(charge("q2", "a", noon.Add(log.LedgerKept), 10), always)
	if got := f.charges("a", time.Time{}); len(got) != 2 {
		t.Errorf("a charge was dropped too early: %+v", got)
	}
	f.reserve(charge("q3", "a", noon.Add(log.LedgerKept+time.Second), 10), always)
	if got := f.charges("a", time.Time{}); len(got) != 2 || got[0].ID != "q2" {
		t.Errorf("an old charge was kept: %+v", got)
	}
}

func testLedgerRelease(t *testing.T, f *fixture) {
	for _, id := range []string{"q1", "q2", "q3"} {
		f.reserve(charge(id, "a", noon, 1), always)
	}
	other := charge("q4", "a", noon, 1)
	other.Room = "other"
	f.reserve(other, always)
	must(t, f.Settle(f.ctx, charge("q2", "a", noon, 1)))
	must(t, f.Release(f.ctx, "r", "q3", "q9"))
	ids := func() (ids []string) {
		for _, c := range f.charges("a", time.Time{}) {
			ids = append(ids, c.ID)
		}
		return ids
	}
	if got, want := ids(), []string{"q2", "q3", "q4"}; !slices.Equal(got, want) {
		t.Fatalf("after the release there are %v, want %v", got, want)
	}
	must(t, f.Settle(f.ctx, charge("b1", "b", noon, 1)))
	if agents, err := f.Agents(f.ctx); err != nil || !slices.Equal(agents, []string{"a", "b"}) {
		t.Errorf("agents %v, %v", agents, err)
	}
	if n, err := f.Reset(f.ctx, "a"); n != 3 || err != nil || len(ids()) != 0 || len(f.charges("b", time.Time{})) != 1 {
		t.Errorf("reset %d charges, %v", n, err)
	}
	f.fill("r", 1)
	must(t, f.Remove(f.ctx, "r"))
	if len(f.charges("b", time.Time{})) != 1 {
		t.Error("the charges went with the room")
	}
}

// testLedgerRace checks that reservations at the same time do not pass a limit together.
func testLedgerRace(t *testing.T, f *fixture) {
	logs := []log.Log{f.Log}
	if f.Shared {
		second := f.Open(t, f.dir)
		defer second.Close()
		logs = append(logs, second)
	}
	var stored atomic.Int64
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			ok, err := logs[i%len(logs)].Reserve(f.ctx, charge(fmt.Sprint("q", i), "a", noon, 1), noon.Add(-time.Hour), func(others []room.BudgetCharge) bool { return len(others) < 7 })
			if err != nil {
				t.Error(err)
			} else if ok {
				stored.Add(1)
			}
		})
	}
	all.Wait()
	if got := f.charges("a", time.Time{}); stored.Load() != 7 || len(got) != 7 {
		t.Errorf("%d reservations of 7 were stored, the ledger has %d", stored.Load(), len(got))
	}
}
