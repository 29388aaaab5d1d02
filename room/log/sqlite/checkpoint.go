package sqlite

import (
	"errors"
	"fmt"
)

// checkpointPages is how long the write-ahead log grows before it is moved
// into the database: 16 MB.
const checkpointPages = 4000

// tidy moves the write-ahead log into the database when it has grown, and
// empties it when it holds what was redacted.
func (w *writer) tidy() {
	var err error
	switch {
	case w.purge:
		err = w.empty(250)
	case w.pages >= checkpointPages:
		_, err = w.c.one("pragma wal_checkpoint(passive)")
		w.pages = 0
	}
	if err != nil && primary(err) != busyCode {
		w.failed = failure(w.d.explain("moving the write-ahead log into the database", err))
	}
}

// empty cuts the write-ahead log to nothing. Somebody who reads prevents that;
// it waits for them so many milliseconds, for nobody can write meanwhile, and
// is otherwise tried again when the writer is idle.
func (w *writer) empty(wait int) error {
	if err := w.c.exec(fmt.Sprintf("pragma busy_timeout=%d", wait)); err != nil {
		return err
	}
	busy, err := integer(w.c.one("pragma wal_checkpoint(truncate)"))
	if err == nil && busy == 0 {
		w.purge, w.pages = false, 0
	}
	return errors.Join(err, w.c.exec(fmt.Sprintf("pragma busy_timeout=%d", busyTimeout)))
}
