package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// small makes a log with three rooms, a snapshot, a blob and a redacted event,
// and returns the hashes of room "a" by seq.
func small(t *testing.T, dir string) [][32]byte {
	t.Helper()
	d := open(t, dir)
	defer d.Close()
	ctx := t.Context()
	for _, name := range []string{"a", "b", "c"} {
		at := log.Pos{}
		for i := range 12 {
			p, _, err := d.Append(ctx, name, at, time.Unix(2e9, 0), logtest.Event(fmt.Sprint(name, i), strings.Repeat(name, i*60)))
			if err != nil {
				t.Fatal(err)
			}
			at = p
		}
	}
	entries, err := d.Read(ctx, "a", log.Pos{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	hashes := make([][32]byte, len(entries)+1)
	for _, e := range entries {
		hashes[e.Seq] = e.Hash
	}
	_, blob := d.PutBlob(ctx, bytes.Repeat([]byte("blob"), 1000))
	err = errors.Join(blob, d.Redact(ctx, "b", entry(t, d, "b", 3).Event.Redacted()),
		d.PutSnapshot(ctx, "a", log.Snapshot{Seq: 12, Hash: hashes[12], Data: []byte("state")}))
	if err != nil {
		t.Fatal(err)
	}
	return hashes
}

func entry(t testing.TB, d log.Log, room string, seq uint64) log.Entry {
	t.Helper()
	got, err := d.Read(t.Context(), room, log.Pos{Seq: seq - 1}, 1)
	if err != nil || len(got) != 1 {
		t.Fatalf("event %d of room %s: %d entries, %v", seq, room, len(got), err)
	}
	return got[0]
}

// TestFlippedAnywhere changes one bit of the file, at many places. Either the change
// is found, or all stored data reads the same.
func TestFlippedAnywhere(t *testing.T) {
	dir := t.TempDir()
	hashes := small(t, dir)
	path := filepath.Join(dir, sqlite.FileName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tries := 250
	if testing.Short() {
		tries = 60
	}
	random := rand.New(rand.NewPCG(5, 5))
	found := 0
	for range tries {
		at, bit := random.IntN(len(whole)), random.IntN(8)
		b := bytes.Clone(whole)
		b[at] ^= 1 << bit
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := inspect(t, dir, hashes); err != nil {
			found++
			if c := code(err); c == "NONE" {
				t.Fatalf("bit %d of byte %d: the error has no code: %v", bit, at, err)
			}
		}
		os.Remove(path + "-wal")
		os.Remove(path + "-shm")
	}
	if found < tries/4 {
		t.Errorf("only %d of %d flips were found", found, tries)
	}
	t.Logf("%d bytes, %d flips, %d found, the others in unused space", len(whole), tries, found)
}

// inspect opens a log and checks it. It fails the test when the check finds no
// damage and the data differs.
func inspect(t *testing.T, dir string, hashes [][32]byte) error {
	t.Helper()
	d, err := sqlite.Open(sqlite.Config{Dir: dir})
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Check(t.Context()); err != nil {
		return err
	}
	infos, err := d.Rooms(t.Context())
	if err != nil || len(infos) != 3 || infos[0].Last != 12 || infos[2].Wake.Unix() != 2e9 {
		t.Errorf("damage was not found: rooms are %+v, %v", infos, err)
	}
	if due, err := d.Due(t.Context(), time.Unix(3e9, 0)); err != nil || len(due) != 3 {
		t.Errorf("damage was not found: due are %v, %v", due, err)
	}
	for seq := uint64(1); seq <= 12; seq++ {
		if e := entry(t, d, "a", seq); e.Hash != hashes[seq] {
			t.Errorf("damage was not found: event %d has another hash", seq)
		}
	}
	if s, err := d.Snapshot(t.Context(), "a"); err != nil || string(s.Data) != "state" {
		t.Errorf("damage was not found: snapshot is %q, %v", s.Data, err)
	}
	if _, err := d.Blob(t.Context(), log.Digest(bytes.Repeat([]byte("blob"), 1000))); err != nil {
		t.Errorf("damage was not found: blob: %v", err)
	}
	return nil
}

// TestDeletedEvent deletes a row of the events. The error names that event and not
// the next or the last one.
func TestDeletedEvent(t *testing.T) {
	for seq := 1; seq <= 12; seq++ {
		dir := t.TempDir()
		small(t, dir)
		sqlite.DeleteEvent(t, dir, "a", seq)
		d := open(t, dir)
		for _, page := range []int{0, 5, 12} {
			var err error
			for at := (log.Pos{}); err == nil && at.Seq < 12; {
				var entries []log.Entry
				if entries, err = d.Read(t.Context(), "a", at, page); err == nil && len(entries) > 0 {
					at = entries[len(entries)-1].Pos
				}
			}
			if want := fmt.Sprintf("event %d is missing", seq); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("pages of %d: got %v, want %q", page, err, want)
			}
		}
		d.Close()
	}
}

// TestDamagedPage damages the page header of the page with an event. The error must
// still name the room.
func TestDamagedPage(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	for _, name := range []string{"a", "b"} {
		events := make([]room.Event, 40)
		for i := range events {
			events[i] = logtest.Event(fmt.Sprint(i), fmt.Sprintf("needle-%s-%d-%s", name, i+1, strings.Repeat("x", 800)))
		}
		if _, _, err := d.Append(t.Context(), name, log.Pos{}, time.Time{}, events...); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, sqlite.FileName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := bytes.Index(b, []byte("needle-a-20-")) / 4096 * 4096
	b[page] ^= 1 << 3 // its kind
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	d = open(t, dir)
	defer d.Close()
	_, err = log.Verify(t.Context(), d, "a", log.Mark{})
	c, ok := errors.AsType[*log.CorruptError](err)
	if !ok || c.Room != "a" || c.Seq < 10 || c.Seq > 20 {
		t.Errorf("got %v, want one that names room a and an event near 20", err)
	}
	if _, err := log.Verify(t.Context(), d, "b", log.Mark{}); err != nil {
		t.Errorf("the other room: %v", err)
	}
	if err := d.Check(t.Context()); !errors.Is(err, log.ErrCorrupt) {
		t.Errorf("checking finds %v", err)
	}
}

// TestCutFile checks that a truncated file is refused with its code.
func TestCutFile(t *testing.T) {
	dir := t.TempDir()
	small(t, dir)
	path := filepath.Join(dir, sqlite.FileName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 1, 99, 100, 511, 512, 4095, 4096, len(whole) / 2, len(whole) - 4096} {
		if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		for _, readOnly := range []bool{true, false} {
			d, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: readOnly})
			if err == nil {
				err = d.Check(t.Context())
				d.Close()
			}
			if !errors.Is(err, log.ErrCorrupt) || code(err) != "LOG-CORRUPT" {
				t.Errorf("cut to %d of %d bytes: %v", size, len(whole), err)
			}
		}
		os.Remove(path + "-wal")
		os.Remove(path + "-shm")
	}
}

// TestDamagedTail damages the write-ahead log of a killed process. The log must
// hold an intact prefix of the stored events, or be refused, and must take appends.
func TestDamagedTail(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	defer d.Close()
	at := log.Pos{}
	for i := range 40 {
		p, _, err := d.Append(t.Context(), "a", at, time.Time{}, logtest.Event(fmt.Sprint(i), strings.Repeat("x", i*50)))
		if err != nil {
			t.Fatal(err)
		}
		at = p
	}
	entries, err := d.Read(t.Context(), "a", log.Pos{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(filepath.Join(dir, sqlite.FileName) + suffix)
		if err != nil {
			t.Fatal(err)
		}
		files[suffix] = b
	}
	random := rand.New(rand.NewPCG(9, 9))
	for i := range 60 {
		wal := bytes.Clone(files["-wal"])
		cut := random.IntN(len(wal))
		switch i % 4 {
		case 0:
			wal = wal[:cut]
		case 1:
			wal[cut] ^= 1 << random.IntN(8)
		case 2:
			clear(wal[cut:])
		case 3:
			wal = append(wal, wal[cut:]...)
		}
		prefix(t, fmt.Sprintf("case %d at %d", i%4, cut), files[""], wal, entries)
	}
}

// prefix opens a copy of a log and checks that it is a prefix of entries.
func prefix(t *testing.T, what string, base, wal []byte, entries []log.Entry) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, sqlite.FileName)
	if err := errors.Join(os.WriteFile(path, base, 0o600), os.WriteFile(path+"-wal", wal, 0o600)); err != nil {
		t.Fatal(err)
	}
	for pass := range 2 { // recovery is done twice: nothing changes
		d, err := sqlite.Open(sqlite.Config{Dir: dir})
		if err != nil {
			if code(err) == "NONE" {
				t.Errorf("%s: refused without a code: %v", what, err)
			}
			return
		}
		tail, err := log.Verify(t.Context(), d, "a", log.Mark{})
		if err != nil || tail.Seq > 0 && tail.Hash != entries[tail.Seq-1].Hash {
			t.Errorf("%s, pass %d: ends at %d, %v", what, pass, tail.Seq, err)
		}
		if pass == 1 {
			if _, _, err := d.Append(t.Context(), "a", log.Pos{Seq: tail.Seq}, time.Time{}, logtest.Event("next", "x")); err != nil {
				t.Errorf("%s: appending: %v", what, err)
			}
			holds(t, d, []ack{{"a", tail.Seq + 1, "next"}})
		}
		if err := errors.Join(d.Check(t.Context()), d.Close()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestDamagedSchema changes a bit in the text of a table, which then has another column.
func TestDamagedSchema(t *testing.T) {
	dir := t.TempDir()
	small(t, dir)
	path := filepath.Join(dir, sqlite.FileName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, []byte("updated integer"))
	if at < 0 {
		t.Fatal("the schema has no column updated")
	}
	b[at] ^= 4
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, readOnly := range []bool{false, true} {
		d, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: readOnly})
		if err == nil {
			_, err = d.Read(t.Context(), "a", log.Pos{}, 0)
			err = errors.Join(err, d.Close())
		}
		if code(err) != "LOG-CORRUPT" || !strings.Contains(err.Error(), "the schema is damaged") {
			t.Errorf("read only %t: %v", readOnly, err)
		}
	}
}
