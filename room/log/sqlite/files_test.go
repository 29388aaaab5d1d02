package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// TestPermissions checks that only the user may read the files of a new data
// folder.
func TestPermissions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "data folder?mode=memory")
	d := open(t, dir)
	defer d.Close()
	if _, _, err := d.Append(t.Context(), "a", log.Pos{}, time.Time{}, logtest.Event("1", "x")); err != nil {
		t.Fatal(err)
	}
	unlock, err := d.Lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	var names []string
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[e.IsDir()]; info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", e.Name(), info.Mode().Perm(), want)
		}
		names = append(names, e.Name())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(names[1:], " "); !strings.HasPrefix(got, "locks ") || !strings.HasSuffix(got, " moot.db moot.db-shm moot.db-wal moot.heads") {
		t.Errorf("the folder holds %s", got)
	}
}

// TestModeIsTightened checks that Open removes read permissions of other users.
func TestModeIsTightened(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, sqlite.FileName)
	if err := errors.Join(open(t, dir).Close(), os.Chmod(path, 0o644)); err != nil {
		t.Fatal(err)
	}
	defer open(t, dir).Close()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
}

// TestRedactedIsGone checks that redacted or removed text is in no file.
func TestRedactedIsGone(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	defer d.Close()
	secrets := []string{"the first secret", "the second secret", "a secret in a state", "a secret in a room", strings.Repeat("a long secret ", 2000)}
	p, _, err := d.Append(t.Context(), "a", log.Pos{}, time.Time{}, logtest.Event("1", secrets[0]), logtest.Event("2", secrets[1]), logtest.Event("3", secrets[4]))
	if err != nil {
		t.Fatal(err)
	}
	last := entry(t, d, "a", 3)
	_, _, other := d.Append(t.Context(), "b", log.Pos{}, time.Time{}, logtest.Event("1", secrets[3]))
	err = errors.Join(other, d.PutSnapshot(t.Context(), "a", log.Snapshot{Seq: p.Seq, Hash: last.Hash, Data: []byte(secrets[2])}))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range secrets {
		if !stored(t, dir, secret[:16]) {
			t.Fatalf("%.20q is not in the files: the test tests nothing", secret)
		}
	}
	err = errors.Join(
		d.Redact(t.Context(), "a", entry(t, d, "a", 1).Event.Redacted(), entry(t, d, "a", 2).Event.Redacted(), last.Event.Redacted()),
		d.Remove(t.Context(), "b"),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range secrets {
		if stored(t, dir, secret[:16]) {
			t.Errorf("%.20q is still in the files", secret)
		}
	}
	if err := d.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestRedactedIsGoneLater checks that a reader does not delay a redaction, and that
// the redacted bytes are gone from the file once the reader has ended.
func TestRedactedIsGoneLater(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	defer d.Close()
	const secret = "a secret in the write-ahead log"
	if _, _, err := d.Append(t.Context(), "a", log.Pos{}, time.Time{}, logtest.Event("1", secret)); err != nil {
		t.Fatal(err)
	}
	release := sqlite.HoldRead(t, dir)
	if err := d.Redact(t.Context(), "a", entry(t, d, "a", 1).Event.Redacted()); err != nil {
		t.Fatal(err)
	}
	if !stored(t, dir, secret) {
		t.Error("the bytes are gone although a reader is active: the test has no effect")
	}
	release()
	for deadline := time.Now().Add(time.Minute); stored(t, dir, secret); {
		if time.Now().After(deadline) {
			t.Fatal("it does not go")
		}
	}
}

// stored reports whether a text is in the files of a log. A child process reads
// them, because closing a file would drop the locks of this process.
func stored(t *testing.T, dir, text string) bool {
	t.Helper()
	c := command(t, dir, roleGrep)
	c.Stdin = strings.NewReader(text)
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(out, []byte("found"))
}

// TestStalled checks that a caller with a deadline does not wait for a stalled
// append (here because of the lock of another program), and that the append is
// stored later.
func TestStalled(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	defer d.Close()
	release := sqlite.HoldWriteLock(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // long enough to begin the append on a busy machine
	defer cancel()
	event := logtest.Event("1", "x")
	if _, _, err := d.Append(ctx, "a", log.Pos{}, time.Time{}, event); !errors.Is(err, log.ErrUnknown) {
		t.Fatalf("appending while the disk stalls: %v", err)
	}
	release()
	p, dup, err := d.Append(t.Context(), "a", log.Pos{}, time.Time{}, event)
	if err != nil || !dup || p.Seq != 1 {
		t.Fatalf("the retry: %v, dup %v, %v", p, dup, err)
	}
}
