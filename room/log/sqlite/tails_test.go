package sqlite_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// TestTailsAreForgotten appends to rooms that are unlocked afterwards, as rooms that have ended
// are, and checks that the writer does not keep something of each.
func TestTailsAreForgotten(t *testing.T) {
	d := open(t, t.TempDir())
	defer d.Close()
	appendTo := func(room string) {
		unlock, err := d.Lock(t.Context(), room)
		if err != nil {
			t.Error(err)
			return
		}
		defer unlock()
		if _, _, err := d.Append(t.Context(), room, log.Pos{}, time.Time{}, logtest.Event("1.1", "x")); err != nil {
			t.Error(err)
		}
	}
	const workers = 32
	var running sync.WaitGroup
	for w := range workers {
		running.Go(func() {
			for i := range 2 * sqlite.SpareTails / workers {
				appendTo(fmt.Sprint("room", w, ".", i))
			}
		})
	}
	running.Wait()
	appendTo("last")
	if n := sqlite.KnownTails(t, d); n > sqlite.SpareTails+3 {
		t.Errorf("the writer keeps the ends of %d rooms", n)
	}
}
