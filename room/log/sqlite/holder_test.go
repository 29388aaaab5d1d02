package sqlite_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/folkmoot/moot/room/log/sqlite"
)

func TestHolder(t *testing.T) {
	dir := t.TempDir()
	db, err := sqlite.Open(sqlite.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if pid := db.Holder("r1"); pid != 0 {
		t.Errorf("nobody holds it, but %d does", pid)
	}
	unlock, err := db.Lock(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	if pid := db.Holder("r1"); pid != os.Getpid() {
		t.Errorf("held by %d, want %d", pid, os.Getpid())
	}
	files, err := filepath.Glob(filepath.Join(dir, "locks", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("lock files: %v, %v", files, err)
	}
	// A process that was killed leaves its file and no process. 1<<22 is over
	// the largest process id of Linux and macOS.
	if err := os.WriteFile(files[0], []byte(strconv.Itoa(1<<22+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if pid := db.Holder("r1"); pid != 0 {
		t.Errorf("held by %d, a process that does not exist", pid)
	}
	unlock()
}
