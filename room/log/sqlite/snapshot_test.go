package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// TestForgedSnapshot edits a snapshot, with a checksum that fits. It must not be
// used, and neither may one that no record vouches for. A handle that was open
// before uses what another has stored.
func TestForgedSnapshot(t *testing.T) {
	dir := t.TempDir()
	small(t, dir) // room a has a snapshot at event 12
	early, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	d := open(t, dir)
	if s, err := d.Snapshot(ctx, "a"); err != nil || string(s.Data) != "state" {
		t.Fatalf("%q, %v", s.Data, err)
	}
	fillRooms(t, d, 2, "a")
	next := log.Snapshot{Seq: 14, Hash: entry(t, d, "a", 14).Hash, Data: []byte("newer")}
	if err := errors.Join(d.PutSnapshot(ctx, "a", next), d.Close()); err != nil {
		t.Fatal(err)
	}
	if s, err := early.Snapshot(ctx, "a"); err != nil || string(s.Data) != "newer" {
		t.Errorf("%q, %v", s.Data, err)
	}
	next.Data = []byte("edited")
	sqlite.ForgeSnapshot(t, dir, "a", next)
	d = open(t, dir)
	if s, err := d.Snapshot(ctx, "a"); !errors.Is(err, log.ErrNotFound) {
		t.Errorf("an edited snapshot is used: %q, %v", s.Data, err)
	}
	next.Data = []byte("newer")
	sqlite.ForgeSnapshot(t, dir, "a", next)
	if _, err := d.Snapshot(ctx, "a"); err != nil {
		t.Error(err)
	}
	if err := errors.Join(d.Close(), os.Remove(filepath.Join(dir, sqlite.HeadsName))); err != nil {
		t.Fatal(err)
	}
	d = open(t, dir)
	defer d.Close()
	if _, err := d.Snapshot(ctx, "a"); !errors.Is(err, log.ErrNotFound) {
		t.Errorf("a snapshot without a record is used: %v", err)
	}
}
