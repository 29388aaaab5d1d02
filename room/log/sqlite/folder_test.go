package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// TestLockFolder checks that a folder is taken alone only while no handle for writing
// is open, in this process or another, that none can be opened then, and that reading
// goes on.
func TestLockFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	refused := func(unlock func(), err error) {
		t.Helper()
		if !errors.Is(err, log.ErrLocked) || code(err) != "LOG-LOCKED" {
			t.Fatalf("want LOG-LOCKED, got %v", err)
		}
	}
	one, other := open(t, dir), open(t, dir)
	one.Close()
	refused(sqlite.LockFolder(dir))
	other.Close()

	c := command(t, dir, roleHold)
	in, inErr := c.StdinPipe()
	out, outErr := c.StdoutPipe()
	if err := errors.Join(inErr, outErr, c.Start()); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, len("held"))); err != nil {
		t.Fatal(err)
	}
	refused(sqlite.LockFolder(dir))
	c.Process.Kill()
	c.Wait()
	in.Close()

	unlock, err := sqlite.LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	refused(sqlite.LockFolder(dir))
	_, err = sqlite.Open(sqlite.Config{Dir: dir})
	refused(nil, err)
	reader, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	unlock()
	open(t, dir).Close()
}

// TestFailedOpenFreesFolder checks that a log that cannot be opened does not keep its
// folder.
func TestFailedOpenFreesFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, sqlite.FileName), []byte("no log"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(sqlite.Config{Dir: dir}); err == nil {
		t.Fatal("a file that is no log was opened")
	}
	unlock, err := sqlite.LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}
