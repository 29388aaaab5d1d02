package sqlite

import (
	"errors"
	"fmt"
	"time"

	codes "modernc.org/sqlite/lib"
)

// checkpointPages is how long the write-ahead log grows before it is moved into the
// database, when rooms write without a rest: 16 MB. waitFactor times that is the length
// at which the writer waits for the concurrent checkpoint.
const (
	checkpointPages = 4000
	waitFactor      = 8
)

// checkpoint makes the heads durable. When no room has written for some time, it
// empties the write-ahead log, because SQLite recovers a damaged one only up to the
// damage. It also tries again to remove redacted text.
func (w *writer) checkpoint() {
	if w.failed != nil {
		return
	}
	if err := w.d.heads.syncDue(); err != nil {
		w.failed = failure(w.d.fileError("writing "+HeadsName, err))
		return
	}
	if w.purge || w.pending && time.Since(w.last) >= w.d.rest {
		w.last = time.Now()
		_ = w.empty(0) // a failure shows at the next write
	}
}

// checkpointIfLong starts to move the write-ahead log into the database when it has grown.
func (w *writer) checkpointIfLong() {
	switch {
	case w.pages < w.d.pages:
	case w.pages >= waitFactor*w.d.pages:
		w.tidy()
	case w.moving == nil:
		w.startCheckpoint()
	}
}

// startCheckpoint moves the write-ahead log into the database on another connection,
// while the writer goes on: to write and sync thousands of pages takes tens of
// milliseconds. When it has ended, the writer moves what was added meanwhile. That
// repeats what has failed here, so that errors are ignored here.
func (w *writer) startCheckpoint() {
	done := make(chan struct{})
	w.moving = done
	go func() {
		defer close(done)
		c, err := dial(w.d.path, "rw", pragmas...)
		if err != nil {
			return
		}
		_ = c.exec(passiveCheckpoint)
		_ = c.Close()
	}()
}

// awaitCheckpoint waits until no concurrent checkpoint runs.
func (w *writer) awaitCheckpoint() {
	if w.moving != nil {
		<-w.moving
		w.moving = nil
	}
}

// passiveCheckpoint moves the write-ahead log into the database and keeps its file. The
// next transaction starts at its beginning, unless a reader still needs the old content.
// Overwriting a file takes less time than extending one.
const passiveCheckpoint = "pragma wal_checkpoint(passive)"

// tidy moves the write-ahead log into the database when it has grown, and empties it when
// it holds redacted text.
func (w *writer) tidy() {
	var err error
	switch {
	case w.purge:
		err = w.empty(250)
	case w.pages >= w.d.pages:
		w.awaitCheckpoint()
		err = w.c.exec(passiveCheckpoint)
		w.pages = 0
	}
	if err != nil && primary(err) != codes.SQLITE_BUSY {
		w.failed = failure(w.d.explain("moving the write-ahead log into the database", err))
	}
}

// empty truncates the write-ahead log. Readers prevent that; empty waits for them
// for wait milliseconds, during which no process can write. The writer tries again
// when it is idle.
func (w *writer) empty(wait int) error {
	w.awaitCheckpoint()
	return w.waiting(wait, func() error {
		busy, err := integer(w.c.one("pragma wal_checkpoint(truncate)"))
		if err == nil && busy == 0 {
			w.purge, w.pending, w.pages = false, false, 0
		}
		return err
	})
}

// waiting calls f, in which the connection waits up to limit milliseconds for a lock.
func (w *writer) waiting(limit int, f func() error) error {
	if err := w.c.exec(fmt.Sprintf("pragma busy_timeout=%d", limit)); err != nil {
		return err
	}
	return errors.Join(f(), w.c.exec(fmt.Sprintf("pragma busy_timeout=%d", writerTimeout)))
}
