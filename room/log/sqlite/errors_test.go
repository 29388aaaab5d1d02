package sqlite

import (
	"errors"
	"testing"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
	codes "modernc.org/sqlite/lib"
)

// TestFailure checks that the error of a failed handle is final and keeps the code of
// its cause, unless that code says to try again.
func TestFailure(t *testing.T) {
	d := &DB{path: "moot.db"}
	for cause, want := range map[int]string{codes.SQLITE_FULL: "LOG-FULL", codes.SQLITE_IOERR: "LOG-IO", codes.SQLITE_BUSY: "LOG-FAILED"} {
		err := failure(d.problem(cause, errors.New("moving the write-ahead log")))
		p, ok := errors.AsType[*problem.Error](err)
		if !ok || p.Code != want || !errors.Is(err, log.ErrFailed) || errors.Is(err, log.ErrUnknown) || errors.Is(err, log.ErrBusy) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
