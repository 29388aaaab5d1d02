package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/sqlite"
	"golang.org/x/sys/unix"
)

// mount mounts a small file system in memory and returns its folder.
func mount(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size+",mode=0700"); err != nil {
		lacking(t, fmt.Sprintf("mounting a small disk needs root: %v", err))
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// TestDiskFull fills a disk. The append without space and all later ones must fail
// with the code, acknowledged events must stay readable, and a new handle must go on
// when there is space again.
func TestDiskFull(t *testing.T) {
	dir := mount(t, "1500k")
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 512<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	d := open(t, dir)
	var acked []ack
	at := log.Pos{}
	var err error
	for err == nil && len(acked) < 10000 {
		id := fmt.Sprint(len(acked))
		var p log.Pos
		if p, _, err = d.Append(t.Context(), "a", at, time.Time{}, logtest.Event(id, string(make([]byte, 1000)))); err == nil {
			at = p
			acked = append(acked, ack{"a", p.Seq, id})
		}
	}
	if code(err) != "LOG-FULL handle-failed" || len(acked) == 0 {
		t.Fatalf("after %d events: %v", len(acked), err)
	}
	for range 3 {
		if _, _, err := d.Append(t.Context(), "b", log.Pos{}, time.Time{}, logtest.Event("x", "x")); code(err) != "LOG-FULL handle-failed" {
			t.Fatalf("after the failure: %v", err)
		}
	}
	holds(t, d, acked)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	d = open(t, dir)
	defer d.Close()
	holds(t, d, acked)
	tail, err := d.Tail(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Append(t.Context(), "a", tail, time.Time{}, logtest.Event("after", "x")); err != nil {
		t.Fatal(err)
	}
}

// TestNoSpaceToBegin opens a log on a disk without space for an empty one.
func TestNoSpaceToBegin(t *testing.T) {
	dir := mount(t, "16k")
	if _, err := sqlite.Open(sqlite.Config{Dir: dir}); code(err) != "LOG-FULL" {
		t.Fatalf("opening: %v", err)
	}
}

// TestReadOnlyFolder checks that a read-only folder can be opened for reading and
// is refused for writing.
func TestReadOnlyFolder(t *testing.T) {
	dir := mount(t, "4m")
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	d := open(t, dir)
	if _, _, err := d.Append(t.Context(), "a", log.Pos{}, time.Time{}, logtest.Events("a", 5)...); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{dir, empty, filepath.Join(dir, "none")} {
		if _, err := sqlite.Open(sqlite.Config{Dir: folder}); code(err) != "LOG-READONLY" {
			t.Errorf("opening %s for writing: %v", filepath.Base(folder), err)
		}
	}
	if _, err := sqlite.Open(sqlite.Config{Dir: empty, ReadOnly: true}); !errors.Is(err, log.ErrNotFound) {
		t.Errorf("reading where there is no log: %v", err)
	}
	r, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := r.Read(t.Context(), "a", log.Pos{}, 10); err != nil || len(got) != 5 {
		t.Fatalf("reading: %d events, %v", len(got), err)
	}
	if _, _, err := r.Append(t.Context(), "a", log.Pos{Seq: 5}, time.Time{}, logtest.Event("x", "x")); code(err) != "LOG-READONLY handle-failed" {
		t.Errorf("appending: %v", err)
	}
}
