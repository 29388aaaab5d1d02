package crash_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// recordDir is set in a process that is recorded: its data folder.
const recordDir = "MOOT_CRASH_RECORD_DIR"

// copyName is the name of the folder with the backup.
const copyName = "copy"

var rooms = []string{"red", "green", "blue"}

var start = time.Unix(1_800_000_000, 0)

// record uses a log as hosts do. Before each change it prints "begin", the thing that it
// changes, and its state after the change; after the acknowledgement it prints "done"
// and the thing.
func record(dir string) error {
	for run := range 3 {
		if err := recordRun(dir, run); err != nil {
			return err
		}
		if run == 0 { // a folder of an earlier release has no heads
			if err := os.Remove(filepath.Join(dir, sqlite.HeadsName)); err != nil {
				return err
			}
		}
	}
	return nil
}

func recordRun(dir string, run int) error {
	// From the second run on the write-ahead log also grows until a concurrent checkpoint moves it.
	d, err := sqlite.Open(sqlite.Config{Dir: dir, Poll: 5 * time.Millisecond, Rest: 20 * time.Millisecond, Pages: 20 * run})
	if err != nil {
		return err
	}
	errs := make([]error, len(rooms)+1)
	var wg sync.WaitGroup
	for i, name := range rooms {
		r := &recorder{d: d, name: name, run: run, seed: i}
		wg.Go(func() { errs[i] = r.work() })
	}
	wg.Go(func() { errs[len(rooms)] = recordOthers(d, dir, run) })
	wg.Wait()
	return errors.Join(append(errs, d.Close())...)
}

// A recorder changes one room.
type recorder struct {
	d    *sqlite.DB
	name string
	run  int
	seed int

	inc     int // how often the room was made
	n       int // events
	hidden  []int
	removed bool
}

func (r *recorder) work() error {
	if r.run > 0 {
		if err := r.restoreCounts(); err != nil {
			return err
		}
	}
	for i := range 9 {
		if err := r.append(1 + (i+r.seed)%3); err != nil {
			return err
		}
		if i%4 == 3 {
			time.Sleep(30 * time.Millisecond) // the write-ahead log is moved into the database
		}
		if i == 5 {
			if err := r.snapshot(); err != nil {
				return err
			}
		}
		if i == 7 && r.seed == 1 {
			if err := r.redact(3 + r.run); err != nil {
				return err
			}
		}
		if i == 3 && r.seed == 2 && r.run > 0 {
			if err := r.replace(); err != nil {
				return err
			}
		}
	}
	return nil
}

// restoreCounts finds out where an earlier run has ended.
func (r *recorder) restoreCounts() error {
	text, err := describe(r.d, r.name)
	if err != nil {
		return err
	}
	_, err = fmt.Sscanf(text, "%d:%d:", &r.inc, &r.n)
	for _, e := range strings.Split(strings.SplitN(text, ":", 3)[2], ",") {
		var seq int
		if _, err := fmt.Sscan(e, &seq); err == nil {
			r.hidden = append(r.hidden, seq)
		}
	}
	return err
}

func (r *recorder) state() string {
	if r.removed {
		return absent
	}
	return stateOf(r.inc, r.n, r.hidden)
}

// change prints what is going to be and what has come to be.
func (r *recorder) change(f func(context.Context) error) error {
	return change("room:"+r.name, r.state(), f)
}

func change(thing, state string, f func(context.Context) error) error {
	say("begin", thing, state)
	err := f(context.Background())
	if err != nil {
		return fmt.Errorf("%s to %s: %w", thing, state, err)
	}
	say("done", thing, "")
	return nil
}

// say prints a line in one write, without a buffer.
func say(word, thing, state string) {
	os.Stdout.WriteString(strings.TrimSpace(word+" "+thing+" "+state) + "\n")
}

func eventOf(inc, seq int) room.Event {
	return logtest.Event(fmt.Sprintf("%d.%d", inc, seq), strings.Repeat("x", seq*211%1500))
}

func (r *recorder) append(n int) error {
	at := log.Pos{Seq: uint64(r.n), Tok: uint64(r.n)}
	var events []room.Event
	for range n {
		r.n++
		events = append(events, eventOf(r.inc, r.n))
	}
	return r.change(func(ctx context.Context) error {
		_, _, err := r.d.Append(ctx, r.name, at, time.Time{}, events...)
		return err
	})
}

func (r *recorder) redact(seq int) error {
	got, err := r.d.Read(context.Background(), r.name, log.Pos{Seq: uint64(seq - 1)}, 1)
	if err != nil {
		return err
	}
	r.hidden = append(r.hidden, seq)
	return r.change(func(ctx context.Context) error { return r.d.Redact(ctx, r.name, got[0].Event.Redacted()) })
}

func (r *recorder) snapshot() error {
	ctx := context.Background()
	got, err := r.d.Read(ctx, r.name, log.Pos{Seq: uint64(r.n - 1)}, 1)
	if err != nil {
		return err
	}
	return r.d.PutSnapshot(ctx, r.name, log.Snapshot{Seq: uint64(r.n), Hash: got[0].Hash, Data: []byte(strings.Repeat("s", 5000))})
}

// replace removes the room, restores it from its entries, removes it again, and makes
// another of its name.
func (r *recorder) replace() error {
	entries, err := r.d.Read(context.Background(), r.name, log.Pos{}, 0)
	if err != nil {
		return err
	}
	remove := func(ctx context.Context) error { return r.d.Remove(ctx, r.name) }
	r.removed = true
	if err := r.change(remove); err != nil {
		return err
	}
	r.removed = false
	if err := r.change(func(ctx context.Context) error { return r.d.Restore(ctx, r.name, entries) }); err != nil {
		return err
	}
	r.removed = true
	if err := r.change(remove); err != nil {
		return err
	}
	r.removed, r.inc, r.n, r.hidden = false, r.inc+1, 0, nil
	return r.append(3)
}

// recordOthers stores blobs and charges, and makes a backup.
func recordOthers(d *sqlite.DB, dir string, run int) error {
	for i := range 3 {
		content := []byte(strings.Repeat(fmt.Sprintf("blob %d.%d ", run, i), 300))
		digest := log.Digest(content)
		charge := room.BudgetCharge{ID: fmt.Sprintf("%d.%d", run, i), Agent: "a", Room: "red", At: start, Amounts: room.Amounts{Tokens: 1, Turns: 1}}
		err := errors.Join(
			change("blob:"+digest, "stored", func(ctx context.Context) error { _, err := d.PutBlob(ctx, content); return err }),
			change("charge:"+charge.ID, "1", func(ctx context.Context) error {
				_, err := d.Reserve(ctx, charge, start.Add(-time.Hour), func([]room.BudgetCharge) bool { return true })
				return err
			}),
		)
		charge.Tokens = 7
		if err = errors.Join(err, change("charge:"+charge.ID, "7", func(ctx context.Context) error { return d.Settle(ctx, charge) })); err != nil {
			return err
		}
		time.Sleep(3 * time.Millisecond)
	}
	if run != 1 {
		return nil
	}
	copied := filepath.Join(dir, copyName)
	if err := os.Mkdir(copied, 0o700); err != nil {
		return err
	}
	return change("backup:", "stored", func(ctx context.Context) error {
		damage, err := d.Backup(ctx, copied)
		return errors.Join(damage, err)
	})
}

// absent is the state of a thing that is not there.
const absent = "-"

// stateOf describes a room: how often it was made, its events, and which are redacted.
func stateOf(inc, n int, hidden []int) string {
	slices.Sort(hidden)
	return fmt.Sprintf("%d:%d:%s", inc, n, strings.ReplaceAll(strings.Trim(fmt.Sprint(hidden), "[]"), " ", ","))
}

// describe reads the state of a room, whose events must be those of one making, whole.
func describe(d *sqlite.DB, name string) (string, error) {
	inc, n := 0, 0
	var hidden []int
	for e, err := range log.Scan(context.Background(), d, name, log.Pos{}) {
		if errors.Is(err, log.ErrNotFound) {
			return absent, nil
		}
		if err != nil {
			return "", err
		}
		var seq int
		if _, err := fmt.Sscanf(e.Event.ID, "%d.%d", &inc, &seq); err != nil || seq != n+1 {
			return "", fmt.Errorf("event %d of room %s has id %s", n+1, name, e.Event.ID)
		}
		if n++; e.Redacted {
			hidden = append(hidden, n)
		}
	}
	if n == 0 {
		return absent, nil
	}
	return stateOf(inc, n, hidden), nil
}
