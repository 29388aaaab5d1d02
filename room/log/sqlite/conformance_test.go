package sqlite_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/sqlite"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		os.Exit(child(role))
	}
	goleak.VerifyTestMain(m)
}

func TestConformance(t *testing.T) {
	logtest.Run(t, logtest.Engine{
		Shared: true,
		Open:   func(t testing.TB, dir string) log.Log { return open(t, dir) },
		Flip:   flip,
	})
}

// TestHistories checks histories of rooms that several handles write at once.
func TestHistories(t *testing.T) {
	logtest.RunHistories(t, logtest.HistoryEngine{
		Open:   func(t testing.TB, dir string) log.Log { return open(t, dir) },
		Faults: 3,
	})
}

// open opens a log that polls often, for tests of what other handles write.
func open(t testing.TB, dir string) *sqlite.DB {
	t.Helper()
	d, err := sqlite.Open(sqlite.Config{Dir: dir, Poll: 2 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// flip changes one bit where needle is stored. Closing the last handle has
// moved everything into the one file.
func flip(t testing.TB, dir string, needle []byte) {
	t.Helper()
	path := filepath.Join(dir, sqlite.FileName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	i := bytes.Index(b, needle)
	if i < 0 {
		t.Fatalf("%q is not in the file", needle)
	}
	b[i] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
