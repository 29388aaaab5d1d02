package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/sqlite"
)

var ctx = context.Background()

// fillRooms appends one event at a time to rooms, in turn.
func fillRooms(t testing.TB, d *sqlite.DB, events int, names ...string) {
	t.Helper()
	for i := range events {
		for _, name := range names {
			at, err := d.Tail(ctx, name)
			if err == nil {
				_, _, err = d.Append(ctx, name, at, time.Time{}, logtest.Event(fmt.Sprint(name, at.Seq, i), "text"))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// shortened returns a data folder whose rooms "a", with 30 events, and "gone",
// with 20, have lost their ends: the database is that of an earlier moment. Room
// "b" is whole. full is the whole room "a".
func shortened(t testing.TB) (dir string, full []log.Entry) {
	t.Helper()
	dir = t.TempDir()
	d := open(t, dir)
	fillRooms(t, d, 10, "a", "b")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, sqlite.FileName)
	early, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d = open(t, dir)
	fillRooms(t, d, 20, "a", "gone")
	full, err = d.Read(ctx, "a", log.Pos{}, 0)
	if err = errors.Join(err, d.Close(), os.WriteFile(path, early, 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir, full
}

// TestShort checks that a room that has lost its end is named with both numbers
// to readers and writers, that its intact events can be read, that it takes no
// event, and that other rooms run on.
func TestShort(t *testing.T) {
	dir, full := shortened(t)
	for _, readOnly := range []bool{true, false, true} {
		d, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: readOnly})
		if err != nil {
			t.Fatal(err)
		}
		_, tail := d.Tail(ctx, "a")
		short(t, tail, "a", 10, 30)
		entries, err := d.Read(ctx, "a", log.Pos{}, 0)
		short(t, err, "a", 10, 30)
		if len(entries) != 10 || entries[9].Hash != full[9].Hash {
			t.Errorf("%d intact events were read", len(entries))
		}
		_, err = d.Read(ctx, "gone", log.Pos{}, 0)
		short(t, err, "gone", 0, 20)
		infos, err := d.Rooms(ctx)
		damaged := ""
		for _, info := range infos {
			if info.Damage != nil {
				damaged += info.Room + " "
			}
		}
		if damaged != "a gone " || !errors.Is(err, log.ErrShort) {
			t.Errorf("rooms are %+v, %v", infos, err)
		}
		if err := d.Check(ctx); !errors.Is(err, log.ErrShort) {
			t.Errorf("checking finds %v", err)
		}
		if !readOnly {
			_, _, err = d.Append(ctx, "a", log.At(10), time.Time{}, logtest.Event("x", "x"))
			short(t, err, "a", 10, 30)
			_, _, err = d.Append(ctx, "gone", log.Pos{}, time.Time{}, logtest.Event("x", "x"))
			short(t, err, "gone", 0, 20)
			fillRooms(t, d, 5, "b", "c")
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func short(t testing.TB, err error, room string, last, head int) {
	t.Helper()
	want := fmt.Sprintf("room %s is paused: its log ends at event %d, but event %d was stored", room, last, head)
	p, ok := errors.AsType[*problem.Error](err)
	if !ok || p.Code != "LOG-SHORT" || p.What != want || p.Fix == "" || !errors.Is(err, log.ErrShort) || !errors.Is(err, log.ErrCorrupt) {
		t.Errorf("got %v, want LOG-SHORT: %s", err, want)
	}
}

// TestShortIsReplaced checks that a room that has lost its end can be removed, and
// then restored from an export that has all its events, but not from a shorter
// one as long as the head is known.
func TestShortIsReplaced(t *testing.T) {
	dir, full := shortened(t)
	d := open(t, dir)
	defer d.Close()
	if err := d.Restore(ctx, "gone", full); !errors.Is(err, log.ErrShort) {
		t.Errorf("restoring another chain: %v", err)
	}
	if err := errors.Join(d.Remove(ctx, "gone"), d.Remove(ctx, "a"), d.Restore(ctx, "a", full)); err != nil {
		t.Fatal(err)
	}
	d.Close()
	d = open(t, dir)
	defer d.Close()
	if infos, err := d.Rooms(ctx); err != nil || len(infos) != 2 || infos[0].Last != 30 {
		t.Errorf("rooms are %+v, %v", infos, err)
	}
}

// TestRestoredHead restores a lost room from an export that has all its events.
func TestRestoredHead(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	fillRooms(t, d, 5, "b")
	d.Close()
	path := filepath.Join(dir, sqlite.FileName)
	early, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d = open(t, dir)
	fillRooms(t, d, 5, "a")
	full, err := d.Read(ctx, "a", log.Pos{}, 0)
	if err = errors.Join(err, d.Close(), os.WriteFile(path, early, 0o600)); err != nil {
		t.Fatal(err)
	}
	d = open(t, dir)
	defer d.Close()
	if err := d.Restore(ctx, "a", full[:4]); !errors.Is(err, log.ErrShort) {
		t.Errorf("restoring four of five events: %v", err)
	}
	if err := d.Restore(ctx, "a", full); err != nil {
		t.Fatal(err)
	}
	fillRooms(t, d, 1, "a")
}

// TestDivergedHead checks that another event at the place of the head is found,
// also when the log has grown longer since.
func TestDivergedHead(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	fillRooms(t, d, 5, "a")
	d.Close()
	path := filepath.Join(dir, sqlite.FileName)
	early, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d = open(t, dir)
	fillRooms(t, d, 5, "a")
	d.Close()
	heads, err := os.ReadFile(filepath.Join(dir, sqlite.HeadsName))
	if err = errors.Join(err, os.WriteFile(path, early, 0o600), os.Remove(filepath.Join(dir, sqlite.HeadsName))); err != nil {
		t.Fatal(err)
	}
	d = open(t, dir) // as an earlier release, which knows no heads
	fillRooms(t, d, 9, "a")
	d.Close()
	if err := os.WriteFile(filepath.Join(dir, sqlite.HeadsName), heads, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		d = open(t, dir)
		if _, err = d.Tail(ctx, "a"); !errors.Is(err, log.ErrCorrupt) || !strings.Contains(err.Error(), "at event 10") {
			t.Errorf("got %v", err)
		}
		d.Close()
	}
}

// TestFolderWithoutHeads checks that a data folder of an earlier release opens,
// and that its heads are made then. So are those of a file that was emptied.
func TestFolderWithoutHeads(t *testing.T) {
	dir := t.TempDir()
	small(t, dir)
	path := filepath.Join(dir, sqlite.HeadsName)
	for name, lose := range map[string]func() error{
		"missing": func() error { return os.Remove(path) },
		"emptied": func() error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := lose(); err != nil {
				t.Fatal(err)
			}
			headsAreMade(t, dir, path)
		})
	}
}

func headsAreMade(t *testing.T, dir, path string) {
	for _, readOnly := range []bool{true, false} {
		d, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: readOnly})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(d.Check(ctx), d.Close()); err != nil {
			t.Error(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil || bytes.Count(b, []byte(" head 12 ")) != 3 {
		t.Errorf("the heads are %q, %v", b, err)
	}
}

// TestDamagedHeads checks that damage of the heads alone stops no room, is
// reported by a check that changes nothing, and is repaired.
func TestDamagedHeads(t *testing.T) {
	dir := t.TempDir()
	small(t, dir)
	path := filepath.Join(dir, sqlite.HeadsName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"cut":     whole[:len(whole)-20],
		"flipped": bytes.Replace(whole, []byte(" head 12 "), []byte(" head 92 "), 1),
		"zeros":   append(bytes.Clone(whole), make([]byte, 512)...),
		"empty":   {},
	} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Rooms(ctx)
		if found := r.Check(ctx); err != nil || (found == nil) != (name == "empty") {
			t.Errorf("%s: rooms: %v; checking finds %v", name, err, found)
		}
		d := open(t, dir)
		if err := errors.Join(d.Check(ctx), r.Close(), d.Close()); name != "empty" && err == nil {
			t.Errorf("%s: the handle that repairs it does not report it", name)
		}
		d = open(t, dir)
		if err := errors.Join(d.Check(ctx), d.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHeadsOfTwoHandles checks that a handle takes no room that another has
// removed for a lost one, and that both write heads although one replaces the file.
func TestHeadsOfTwoHandles(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	fillRooms(t, d, 5, "a", "b", "c")
	d.Close()
	d, other := open(t, dir), open(t, dir)
	defer d.Close()
	defer other.Close()
	if err := other.Remove(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if err := other.Remove(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	fillRooms(t, other, 2, "b") // again, and shorter
	if infos, err := d.Rooms(ctx); err != nil || len(infos) != 2 {
		t.Fatalf("rooms are %+v, %v", infos, err)
	}
	fillRooms(t, d, 1, "a", "b")
	if err := sqlite.RewriteHeads(other); err != nil {
		t.Fatal(err)
	}
	fillRooms(t, d, 1, "a", "b", "c") // its file is not the one of that name any more
	b, err := os.ReadFile(filepath.Join(dir, sqlite.HeadsName))
	for _, want := range []string{` head 2 `, ` head 4 `, ` head 6 `} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("no%sin the heads, %v:\n%s", want, err, b)
		}
	}
}

// TestLateHead checks that a room that another process has removed between a commit
// and its head is no lost one, and that a new room of that name has its own head.
func TestLateHead(t *testing.T) {
	dir := t.TempDir()
	d, other := open(t, dir), open(t, dir)
	fillRooms(t, d, 5, "a")
	late, err := sqlite.LateHead(d, "a")
	if err = errors.Join(err, other.Remove(ctx, "a"), late()); err != nil {
		t.Fatal(err)
	}
	check := func(rooms int) {
		t.Helper()
		r, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if infos, err := r.Rooms(ctx); err != nil || len(infos) != rooms {
			t.Errorf("rooms are %+v, %v", infos, err)
		}
	}
	check(0)
	fillRooms(t, other, 2, "a")
	if err := late(); err != nil {
		t.Fatal(err)
	}
	check(1)
	if err := errors.Join(d.Close(), other.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, sqlite.HeadsName))
	if err != nil || sqlite.HeadsIn(b)["a"] != 2 {
		t.Errorf("the heads are %q, %v", b, err)
	}
}

// TestManyHeads checks that the file of heads does not grow for ever.
func TestManyHeads(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	defer d.Close()
	sqlite.LimitHeads(d, 20_000)
	fillRooms(t, d, 300, "a", strings.Repeat("long", 50))
	info, err := os.Stat(filepath.Join(dir, sqlite.HeadsName))
	if err != nil || info.Size() > 25_000 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
}

// TestBusyHeads checks that the file of heads is written again later if another
// process holds the write lock, and that the handle goes on.
func TestBusyHeads(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	defer d.Close()
	fillRooms(t, d, 50, "a")
	path := filepath.Join(dir, sqlite.HeadsName)
	long, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	release, err := sqlite.BusyRewrite(t, d)
	if err != nil {
		t.Errorf("after the commit: %v", err)
	}
	if _, _, err := d.Append(ctx, "b", log.Pos{}, time.Time{}, logtest.Event("x", "x")); !errors.Is(err, log.ErrBusy) || errors.Is(err, log.ErrFailed) {
		t.Errorf("while the log is locked: %v", err)
	}
	release()
	fillRooms(t, d, 1, "a", "b")
	b, err := os.ReadFile(path)
	if last := sqlite.HeadsIn(b); err != nil || last["a"] != 51 || last["b"] != 1 || int64(len(b)) >= long.Size() {
		t.Errorf("%d of %d bytes, heads %v, %v", len(b), long.Size(), last, err)
	}
}

// TestRest checks that the write-ahead log is emptied when no room writes, also
// after a reader has held it.
func TestRest(t *testing.T) {
	dir := t.TempDir()
	d, err := sqlite.Open(sqlite.Config{Dir: dir, Poll: time.Millisecond, Rest: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	fillRooms(t, d, 3, "a")
	emptied := func() bool {
		info, err := os.Stat(filepath.Join(dir, sqlite.FileName+"-wal"))
		return err == nil && info.Size() == 0
	}
	for deadline := time.Now().Add(time.Minute); !emptied(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the write-ahead log is not emptied")
		}
	}
	release := sqlite.HoldRead(t, dir)
	fillRooms(t, d, 3, "a")
	if emptied() {
		t.Error("the write-ahead log was emptied under a reader")
	}
	release()
	for deadline := time.Now().Add(time.Minute); !emptied(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the write-ahead log is not emptied after the reader has gone")
		}
	}
}

// TestZerosAfterHead checks that a record is read although zeros follow it: a power
// failure may keep the new size of the file and not what was written there. The record
// itself was durable.
func TestZerosAfterHead(t *testing.T) {
	b := sqlite.AppendHead(nil, "a", 3)
	b = append(b, make([]byte, 600)...)
	b = append(b, "ad cut short"...)
	b = sqlite.AppendHead(b, "b", 4)
	if last := sqlite.HeadsIn(b); last["a"] != 3 || last["b"] != 4 {
		t.Errorf("the heads are %v", last)
	}
}

// FuzzHeads checks that a record is read after any content.
func FuzzHeads(f *testing.F) {
	f.Add([]byte("\n0011223344556677 head 3 00 \"a\""), "a", uint64(3))
	f.Add([]byte(""), "room \n \"x\"", uint64(1))
	f.Fuzz(func(t *testing.T, b []byte, room string, seq uint64) {
		sqlite.HeadsIn(b)
		if log.CheckName(room) != nil || seq == 0 {
			return
		}
		// Content before a record, even without a line break, does not damage it.
		if got := sqlite.HeadsIn(sqlite.AppendHead(b, room, seq))[room]; got < seq {
			t.Errorf("the head of %q is %d, want %d", room, got, seq)
		}
	})
}

// TestManySnapshots: a handle keeps a bounded number of the digests of snapshots, and finds the
// others in the file.
func TestManySnapshots(t *testing.T) {
	path := filepath.Join(t.TempDir(), sqlite.HeadsName)
	const more = 50
	kept, vouched := sqlite.KeepSnapshots(t, path, sqlite.MaxSnapshots+more)
	if kept != sqlite.MaxSnapshots {
		t.Errorf("%d digests are kept, want %d", kept, sqlite.MaxSnapshots)
	}
	if vouched != 2*more {
		t.Errorf("the file has the digests of %d of %d snapshots", vouched, 2*more)
	}
}
