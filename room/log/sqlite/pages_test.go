package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// manyRooms is the number of rooms of a hundred.
const manyRooms = 100

// A hundred is the folder of a process that was killed, with 100 rooms.
type hundred struct {
	files   map[string][]byte
	entries [manyRooms][]log.Entry
}

func numbered(i int) string { return fmt.Sprintf("room%02d", i) }

// each calls f for all rooms at once, so that their appends share a transaction.
func each(f func(i int)) {
	var wg sync.WaitGroup
	for i := range manyRooms {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// newHundred makes the rooms. With inLog their last events are in the write-ahead log,
// otherwise there is none.
func newHundred(t *testing.T, inLog bool) *hundred {
	t.Helper()
	dir := t.TempDir()
	d := open(t, dir)
	appendTo := func(n, from int) {
		each(func(i int) {
			var events []room.Event
			for k := range n {
				events = append(events, logtest.Event(fmt.Sprintf("%d.%d", i, from+k), strings.Repeat("x", (i*37+k*211)%600)))
			}
			if _, _, err := d.Append(ctx, numbered(i), log.Pos{Seq: uint64(from)}, time.Time{}, events...); err != nil {
				t.Error(err)
			}
		})
	}
	h := &hundred{files: map[string][]byte{}}
	appendTo(5, 0)
	reopen := func() {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		d = open(t, dir)
	}
	reopen()
	appendTo(1, 5)
	each(func(i int) { h.entries[i], _ = d.Read(ctx, numbered(i), log.Pos{}, 0) })
	if !inLog {
		reopen()
	}
	for _, name := range dataFiles {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && name != sqlite.FileName+"-wal" {
			t.Fatal(err)
		}
		h.files[name] = b
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return h
}

// lay writes the folder, with one bit of a file changed.
func (h *hundred) lay(t *testing.T, file string, at, bit int) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "moot-pages-") // without a disk to wait for
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for name, b := range h.files {
		if name == file {
			b = bytes.Clone(b)
			b[at] ^= 1 << bit
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestEveryPageFlipped changes one bit of each page of the database, of the write-ahead
// log and of the heads; of a page of the database a second one, in the page's header. A
// room that has lost something is named, and the others take events. A room whose events
// are damaged, and not the structure of the database, is restored from an export.
func TestEveryPageFlipped(t *testing.T) {
	if testing.Short() {
		t.Skip("opens hundreds of logs")
	}
	closed, killed := newHundred(t, false), newHundred(t, true)
	random := rand.New(rand.NewPCG(21, 21))
	for _, c := range []struct {
		h    *hundred
		file string
	}{{closed, dataFiles[0]}, {killed, dataFiles[1]}, {killed, dataFiles[2]}} {
		outcomes := map[string]int{}
		size := len(c.h.files[c.file])
		for page := 0; page < size; page += 4096 {
			places := []int{random.IntN(min(4096, size-page))}
			if c.file == sqlite.FileName {
				places = append(places, random.IntN(12))
			}
			for _, at := range places {
				bit := random.IntN(8)
				dir := c.h.lay(t, c.file, page+at, bit)
				o := flipped{t: t, h: c.h, salvages: outcomes[structure], what: fmt.Sprintf("bit %d of byte %d of %s", bit, page+at, c.file)}
				o.open(dir)
				outcomes[o.result()]++
				os.RemoveAll(dir)
			}
		}
		t.Logf("%s: %d pages, %v", c.file, (size+4095)/4096, outcomes)
		if c.file != sqlite.FileName && (outcomes[refused] > 0 || outcomes[structure] > 0) {
			t.Errorf("%s: not all rooms were restored: %v", c.file, outcomes)
		}
	}
}

// Results of a flipped bit.
const (
	refused   = "the log is refused"
	structure = "rooms are named, and cannot be restored in place"
	restored  = "rooms are named, and restored"
	harmless  = "nothing is lost"
)

// A flipped is one log with a changed bit.
type flipped struct {
	t    *testing.T
	h    *hundred
	what string

	salvages int // logs before it whose structure is damaged: some of them are salvaged

	mu      sync.Mutex
	refused bool
	damaged []int // rooms that cannot be read
	removed []int // of them, those that were removed, to be restored
	frozen  []int // rooms that can be read and take no event
	stuck   []int // rooms that cannot be removed or restored
}

func (f *flipped) result() string {
	switch {
	case f.refused:
		return refused
	case len(f.frozen)+len(f.stuck) > 0:
		return structure
	case len(f.damaged) > 0:
		return restored
	}
	return harmless
}

// open reads and extends each room of a log, and restores the damaged ones.
func (f *flipped) open(dir string) {
	d, err := sqlite.Open(sqlite.Config{Dir: dir, Poll: time.Hour})
	if err != nil {
		f.named("opening", -1, err)
		f.refused = true
		return
	}
	defer d.Close()
	each(func(i int) {
		got, err := d.Read(ctx, numbered(i), log.Pos{}, 0)
		if err != nil {
			f.note(&f.damaged, "reading", i, err)
			return
		}
		want := f.h.entries[i]
		if len(got) != len(want) || got[len(got)-1].Hash != want[len(want)-1].Hash {
			f.t.Errorf("%s: room %d has lost events without a word", f.what, i)
		}
		if _, _, err := d.Append(ctx, numbered(i), got[len(got)-1].Pos, time.Time{}, logtest.Event("more", "x")); err != nil {
			f.note(&f.frozen, "appending", i, err)
		}
	})
	for _, i := range f.damaged {
		err := d.Remove(ctx, numbered(i))
		if err == nil {
			f.removed = append(f.removed, i)
		}
		if err == nil || errors.Is(err, log.ErrNotFound) {
			err = d.Restore(ctx, numbered(i), f.h.entries[i])
		}
		if errors.Is(err, log.ErrConflict) { // a damaged index has kept an id of the removed room
			f.stuck = append(f.stuck, i)
		} else if err != nil {
			f.note(&f.stuck, "restoring", i, err)
		}
	}
	if len(f.stuck) > 0 && f.salvages%8 == 0 {
		f.salvage(d)
	}
	each(func(i int) { // the handle goes on for all others
		if slices.Contains(f.damaged, i) || slices.Contains(f.frozen, i) {
			return
		}
		if _, _, err := d.Append(ctx, numbered(i), log.Pos{Seq: 7}, time.Time{}, logtest.Event("last", "x")); err != nil {
			f.note(&f.frozen, "appending again to", i, err) // not that the handle has failed
		}
	})
}

// salvage makes a backup and restores the rooms there that it names, or that were removed.
// It has all others. A room that could be read at first may be among the named: the events
// that were stored meanwhile went into the same structure. And it may name none: when a
// room is removed, the damaged page that it shared with another may go with it.
func (f *flipped) salvage(d *sqlite.DB) {
	dir := f.t.TempDir()
	damage, err := d.Backup(ctx, dir)
	if err != nil {
		f.t.Errorf("%s: backing up: %v", f.what, err)
		return
	}
	copied := open(f.t, dir)
	defer copied.Close()
	for i := range manyRooms {
		got, err := copied.Read(ctx, numbered(i), log.Pos{}, 0)
		if err == nil && len(got) >= len(f.h.entries[i]) {
			continue
		}
		if !slices.Contains(f.removed, i) || !errors.Is(err, log.ErrNotFound) {
			f.named("reading the copy of", i, err)
			if damage == nil {
				f.t.Errorf("%s: the backup does not name room %d: %v", f.what, i, err)
			}
		}
		err = copied.Remove(ctx, numbered(i))
		if err == nil || errors.Is(err, log.ErrNotFound) {
			err = copied.Restore(ctx, numbered(i), f.h.entries[i])
		}
		if err != nil {
			f.t.Errorf("%s: restoring room %d in the copy: %v", f.what, i, err)
		}
	}
	if err := errors.Join(copied.Close(), open(f.t, dir).Close()); err != nil {
		f.t.Error(err)
	}
	whole, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: true})
	if err != nil {
		f.t.Fatal(err)
	}
	if err := errors.Join(whole.Check(ctx), whole.Close()); err != nil {
		f.t.Errorf("%s: the restored copy: %v", f.what, err)
	}
}

func (f *flipped) note(list *[]int, doing string, i int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*list = append(*list, i)
	f.named(doing, i, err)
}

// named checks that an error is one of damage, and names its room or the file.
func (f *flipped) named(doing string, i int, err error) {
	c, ok := errors.AsType[*log.CorruptError](err)
	if !ok || code(err) != "LOG-CORRUPT" && code(err) != "LOG-SHORT" || c.Room != "" && c.Room != numbered(i) {
		f.t.Errorf("%s: %s room %d: %v", f.what, doing, i, err)
	}
}
