package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// TestRestore checks that a room restored in another log has the same entries,
// redactions included.
func TestRestore(t *testing.T) {
	from, to := openLog(t, t.TempDir()), openLog(t, t.TempDir())
	var events []room.Event
	for i := range 5 {
		events = append(events, room.Event{
			V: room.FormatVersion, Seq: int64(i + 1), ID: fmt.Sprintf("e%d", i+1), Actor: room.ActorHost,
			At: time.Unix(1_770_000_000, 0).UTC(), Body: room.MessagePosted{Message: room.Message{ID: "m", Text: fmt.Sprintf("text %d", i)}},
		})
	}
	if _, _, err := from.Append(t.Context(), "r", log.Pos{}, time.Time{}, events...); err != nil {
		t.Fatal(err)
	}
	if err := from.Redact(t.Context(), "r", events[2].Redacted()); err != nil {
		t.Fatal(err)
	}
	entries, err := from.Read(t.Context(), "r", log.Pos{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := to.Restore(t.Context(), "r", entries); err != nil {
		t.Fatal(err)
	}
	again, err := to.Read(t.Context(), "r", log.Pos{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		a, b := entries[i], again[i]
		if !bytes.Equal(a.Raw, b.Raw) || !bytes.Equal(a.Salt, b.Salt) || a.Hash != b.Hash || a.Commit != b.Commit || a.Redacted != b.Redacted {
			t.Errorf("event %d is %+v, was %+v", i+1, b, a)
		}
	}
	if _, err := log.Verify(t.Context(), to, "r", log.Mark{}); err != nil {
		t.Error(err)
	}
	if err := to.Restore(t.Context(), "r", entries); !errors.Is(err, log.ErrConflict) {
		t.Errorf("restored twice: %v", err)
	}
	entries[1].Raw = bytes.Replace(entries[1].Raw, []byte("text 1"), []byte("text 9"), 1)
	if err := to.Restore(t.Context(), "other", entries); !errors.Is(err, log.ErrCorrupt) {
		t.Errorf("a changed event is restored: %v", err)
	}
	if tail, err := to.Tail(t.Context(), "other"); err == nil && tail.Seq != 0 {
		t.Errorf("half a room is left, up to event %d", tail.Seq)
	}
}

// TestRestoreAfterRemove checks that a room that was removed and restored with the
// same events has a head again: the loss of its events is reported.
func TestRestoreAfterRemove(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	fillRooms(t, d, 5, "a", "b")
	full, err := d.Read(ctx, "a", log.Pos{}, 0)
	if err = errors.Join(err, d.Remove(ctx, "a"), d.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, sqlite.FileName)
	early, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d = open(t, dir)
	if err := errors.Join(d.Restore(ctx, "a", full), d.Close(), os.WriteFile(path, early, 0o600)); err != nil {
		t.Fatal(err)
	}
	d = open(t, dir)
	defer d.Close()
	_, err = d.Tail(ctx, "a")
	short(t, err, "a", 0, 5)
	if infos, err := d.Rooms(ctx); !errors.Is(err, log.ErrShort) || len(infos) != 2 {
		t.Errorf("rooms are %+v, %v", infos, err)
	}
	if err := d.Restore(ctx, "a", full); err != nil {
		t.Error(err)
	}
}

func openLog(t *testing.T, dir string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(sqlite.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
