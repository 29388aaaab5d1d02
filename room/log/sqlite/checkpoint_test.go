package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// TestConcurrentCheckpoint has rooms write and read without a rest. The write-ahead log
// stays short, and nothing is lost when the folder is copied as it is, as after a crash.
func TestConcurrentCheckpoint(t *testing.T) {
	const pages, rooms = 25, 8 // the writer waits for the checkpoint at eight times the pages: 0.8 MB
	appends := 150
	if testing.Short() {
		appends = 60
	}
	dir := t.TempDir()
	d, err := sqlite.Open(sqlite.Config{Dir: dir, Pages: pages, Rest: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	text := strings.Repeat("x", 20_000)
	var longest atomic.Int64
	var wg sync.WaitGroup
	for i := range rooms {
		wg.Go(func() {
			name, at := fmt.Sprint("room", i), log.Pos{}
			for n := range appends {
				var err error
				if at, _, err = d.Append(t.Context(), name, at, time.Time{}, logtest.Event(fmt.Sprint(i, ".", n), text)); err != nil {
					t.Error(err)
					return
				}
				if got, err := d.Read(t.Context(), name, log.Pos{Seq: at.Seq - 1}, 0); err != nil || len(got) != 1 {
					t.Errorf("%s has %d events after %d, error %v", name, len(got), at.Seq-1, err)
				}
				if s, err := os.Stat(filepath.Join(dir, sqlite.FileName+"-wal")); err == nil {
					longest.Store(max(longest.Load(), s.Size()))
				}
			}
		})
	}
	wg.Wait()
	written := int64(rooms * appends * len(text))
	if most := longest.Load(); most == 0 || most > written/2 {
		t.Errorf("the write-ahead log had %d bytes, of %d that were written", most, written)
	}
	crashed := t.TempDir()
	for _, name := range dataFiles {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(crashed, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := open(t, crashed)
	for i := range rooms {
		if at, err := c.Tail(t.Context(), fmt.Sprint("room", i)); err != nil || at.Seq != uint64(appends) {
			t.Errorf("room %d ends at %d, error %v", i, at.Seq, err)
		}
	}
	if err := errors.Join(c.Check(t.Context()), c.Close(), d.Check(t.Context()), d.Close()); err != nil {
		t.Error(err)
	}
}
