package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/transfer"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/sqlite"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, l log.Reader, name string) (entries []log.Entry) {
	t.Helper()
	for e, err := range log.Scan(t.Context(), l, name, log.Pos{}) {
		must(t, err)
		entries = append(entries, e)
	}
	return entries
}

// folder opens the log of a data folder.
func folder(t *testing.T, dir string) *sqlite.DB {
	t.Helper()
	l, err := sqlite.Open(sqlite.Config{Dir: dir})
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// fill makes a room of n events.
func fill(t *testing.T, l log.Log, name string, n int, wake time.Time) {
	t.Helper()
	_, _, err := l.Append(t.Context(), name, log.Pos{}, wake, logtest.Events(name, n)...)
	must(t, err)
}

// run copies and returns the outcomes by room.
func run(t *testing.T, c transfer.Config) (outcomes map[string]transfer.Outcome, failed error) {
	t.Helper()
	got, err := transfer.Run(t.Context(), c)
	must(t, err)
	outcomes = map[string]transfer.Outcome{}
	for _, r := range got.Rooms {
		outcomes[r.Room] = r.Outcome
	}
	return outcomes, got.Err()
}

func wantOutcomes(t *testing.T, got map[string]transfer.Outcome, want string) {
	t.Helper()
	if is := strings.TrimPrefix(fmt.Sprint(got), "map"); is != want {
		t.Errorf("outcomes are %s, want %s", is, want)
	}
}

// TestRepeated copies again: rooms that are there are left alone, also one that has gone
// on there, and one that has gone on here or is another one is refused.
func TestRepeated(t *testing.T) {
	from, to := folder(t, t.TempDir()), folder(t, t.TempDir())
	for _, name := range []string{"ahead", "behind", "same", "text"} {
		fill(t, from, name, 3, time.Time{})
	}
	_, failed := run(t, transfer.Config{From: from, To: to})
	must(t, failed)
	appendOne := func(l log.Log, name string) {
		t.Helper()
		_, _, err := l.Append(t.Context(), name, log.Pos{Seq: 3}, time.Time{}, logtest.Event("x", "x"))
		must(t, err)
	}
	appendOne(to, "ahead")
	appendOne(from, "behind")
	fill(t, from, "other", 2, time.Time{})
	fill(t, to, "other", 5, time.Time{})
	redact(t, from, "text", 2)
	before := read(t, to, "other")
	got, failed := run(t, transfer.Config{From: from, To: to, Move: true})
	wantOutcomes(t, got, "[ahead:present behind:refused other:refused same:present text:present]")
	if !errors.Is(failed, log.ErrConflict) || !strings.Contains(failed.Error(), "it has the first 3 of 4 events") || !strings.Contains(failed.Error(), "event 1 differs") {
		t.Error(failed)
	}
	if after := read(t, to, "other"); len(after) != 5 || after[4].Hash != before[4].Hash {
		t.Error("another room of the same id was changed")
	}
	if e := read(t, to, "text")[1]; !e.Redacted {
		t.Error("the copy has a text that has been redacted since")
	}
	infos, err := from.Rooms(t.Context())
	must(t, err)
	if len(infos) != 2 || infos[0].Room != "behind" || infos[1].Room != "other" {
		t.Errorf("left are %v", infos)
	}
}

func redact(t *testing.T, l log.Log, name string, seq int) {
	t.Helper()
	must(t, l.Redact(t.Context(), name, read(t, l, name)[seq-1].Event.Redacted()))
}

// TestHeld leaves a room that a process uses, and copies the others.
func TestHeld(t *testing.T) {
	dir := t.TempDir()
	from, to := folder(t, dir), folder(t, t.TempDir())
	fill(t, from, "free", 1, time.Time{})
	fill(t, from, "held", 1, time.Time{})
	unlock, err := folder(t, dir).Lock(t.Context(), "held")
	must(t, err)
	got, failed := run(t, transfer.Config{From: from, To: to, Move: true})
	wantOutcomes(t, got, "[free:copied held:held]")
	if !errors.Is(failed, log.ErrLocked) {
		t.Error(failed)
	}
	unlock()
	got, failed = run(t, transfer.Config{From: from, To: to, Move: true})
	must(t, failed)
	wantOutcomes(t, got, "[held:copied]")
}

// TestDamaged leaves a damaged room, and copies the others.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	from := folder(t, dir)
	fill(t, from, "bad", 3, time.Time{})
	fill(t, from, "good", 3, time.Time{})
	must(t, from.Close())
	path := filepath.Join(dir, sqlite.FileName)
	b, err := os.ReadFile(path)
	must(t, err)
	changed := bytes.ReplaceAll(b, []byte("text of bad-2"), []byte("text of bad-9"))
	if bytes.Equal(b, changed) {
		t.Fatal("the text is not in the file")
	}
	must(t, os.WriteFile(path, changed, 0o600))
	from, to := folder(t, dir), folder(t, t.TempDir())
	got, failed := run(t, transfer.Config{From: from, To: to, Move: true})
	wantOutcomes(t, got, "[bad:refused good:copied]")
	if !errors.Is(failed, log.ErrCorrupt) {
		t.Error(failed)
	}
	if infos, _ := from.Rooms(t.Context()); len(infos) != 1 {
		t.Errorf("left are %v", infos)
	}
}

// An interrupting log cancels the copy when so many rooms were stored.
type interrupting struct {
	transfer.Log
	left   atomic.Int32
	cancel context.CancelCauseFunc
}

func (i *interrupting) PutBack(ctx context.Context, name string, entries []log.Entry, wake time.Time, imported bool) error {
	if i.left.Add(-1) < 0 {
		i.cancel(errInterrupted)
	}
	return i.Log.PutBack(ctx, name, entries, wake, imported)
}

var errInterrupted = errors.New("interrupted")

// TestInterrupted interrupts a copy, which has whole rooms then, and repeats it.
func TestInterrupted(t *testing.T) {
	from, to := folder(t, t.TempDir()), folder(t, t.TempDir())
	for i := range 30 {
		fill(t, from, fmt.Sprint("room", i), 5, time.Time{})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cut := &interrupting{Log: to, cancel: cancel}
	cut.left.Store(12)
	got, err := transfer.Run(ctx, transfer.Config{From: from, To: cut, Move: true})
	copied, _ := got.Count(transfer.Copied)
	if !errors.Is(err, errInterrupted) || copied == 0 || copied == 30 {
		t.Fatalf("%d rooms were copied, %v", copied, err)
	}
	here, err := from.Rooms(t.Context())
	must(t, err)
	if len(here) != 30-copied {
		t.Errorf("%d rooms are left after %d were copied", len(here), copied)
	}
	_, failed := run(t, transfer.Config{From: from, To: to, Move: true})
	must(t, failed)
	there, err := to.Rooms(t.Context())
	must(t, err)
	if len(there) != 30 {
		t.Errorf("%d rooms are there", len(there))
	}
	must(t, to.Check(t.Context()))
}

// TestSame refuses to move a log into itself, by whatever name.
func TestSame(t *testing.T) {
	dir := t.TempDir()
	from, to := folder(t, dir), folder(t, dir)
	fill(t, from, "a", 1, time.Time{})
	_, err := transfer.Run(t.Context(), transfer.Config{From: from, To: to, Move: true})
	if !errors.Is(err, log.ErrLocked) || !strings.Contains(err.Error(), "the same log") {
		t.Error(err)
	}
	if infos, _ := from.Rooms(t.Context()); len(infos) != 1 {
		t.Error("the room was removed")
	}
}

// TestCharges copies a charge again that was open and has been settled since.
func TestCharges(t *testing.T) {
	from, to := folder(t, t.TempDir()), folder(t, t.TempDir())
	c := room.BudgetCharge{ID: "1", Agent: "a", Room: "r", At: time.Now().UTC()}
	_, err := from.Reserve(t.Context(), c, time.Time{}, func([]room.BudgetCharge) bool { return true })
	must(t, err)
	for i, want := range []int{1, 0, 1, 0} {
		if i == 2 {
			c.Tokens = 5
			must(t, from.Settle(t.Context(), c))
		}
		got, err := transfer.Run(t.Context(), transfer.Config{From: from, To: to})
		must(t, err)
		if got.Charges != want {
			t.Errorf("copy %d has %d charges, want %d", i, got.Charges, want)
		}
	}
	charges, err := to.Charges(t.Context(), "a", time.Time{})
	must(t, err)
	if len(charges) != 1 || charges[0].Open || charges[0].Tokens != 5 {
		t.Errorf("charges are %+v", charges)
	}
}
