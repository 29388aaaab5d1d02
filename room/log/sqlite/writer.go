package sqlite

import (
	"errors"
	"fmt"
	"time"

	"github.com/folkmoot/moot/room/log"
	codes "modernc.org/sqlite/lib"
)

const (
	queueLength = 1024 // requests waiting for the writer
	batchLimit  = 512  // requests in one transaction
	spareTails  = 256  // ends of logs of unlocked rooms that the writer keeps
)

// A request is one write. The writer runs it within a transaction and closes
// done when that is on stable storage, or err says why it is not.
type request struct {
	room string // the one that it changes, if it is of one room
	run  func(*writer) error
	err  error
	done chan struct{}
}

// errAlone is the error of a request that failed after it had changed something.
// The transaction is rolled back and repeated without it.
type errAlone struct{ cause error }

func (e errAlone) Error() string { return e.cause.Error() }

// A writer is the one goroutine that writes, with its connection.
type writer struct {
	d       *DB
	c       *conn
	known   map[string]*tail // as committed or changed; empty after another process wrote
	changed []*tail          // in the open transaction

	begin, commit, rollback, version, find, insertRoom, updateRoom,
	insertEvent, stored *statement

	seen    int64         // data_version: changes when another process commits
	pages   int           // estimate of the write-ahead log's growth since the last checkpoint
	purge   bool          // the write-ahead log holds redacted text
	pending bool          // the write-ahead log holds commits of this handle
	last    time.Time     // of the last commit, and of the last attempt to empty the write-ahead log
	moving  chan struct{} // closed when the concurrent checkpoint has ended; nil without one
	failed  error
}

// startWriter opens the file for writing and starts the writer.
func (d *DB) startWriter() error {
	if err := d.prepareFiles(); err != nil {
		return err
	}
	c, err := dial(d.path, "rw", pragmas...)
	if err != nil {
		return d.explain("opening log", err)
	}
	w := &writer{d: d, c: c, known: map[string]*tail{}}
	if err := errors.Join(migrate(c), w.prepare()); err != nil {
		return errors.Join(d.explain("opening log", err), c.Close())
	}
	if err := w.openHeads(); err != nil {
		return errors.Join(d.fileError("opening "+HeadsName, err), c.Close())
	}
	if err := c.exec(fmt.Sprintf("pragma busy_timeout=%d", writerTimeout)); err != nil {
		return errors.Join(d.explain("opening log", err), c.Close())
	}
	go w.loop()
	return nil
}

func (w *writer) prepare() error {
	return w.c.prepareAll([]prepared{
		{&w.begin, "begin immediate"},
		{&w.commit, "commit"},
		{&w.rollback, "rollback"},
		{&w.version, "pragma data_version"},
		{&w.find, "select " + columnsOfRoom + " from rooms where name = ?"},
		{&w.insertRoom, "insert into rooms(name, last, hash, updated, bytes, sum) values(?, 0, zeroblob(32), 0, 0, zeroblob(8)) returning id"},
		{&w.updateRoom, "update rooms set last = ?, hash = ?, updated = ?, wake = ?, bytes = ?, sum = ? where id = ?"},
		{&w.insertEvent, "insert into events(key, id, proof, raw) values(?, ?, ?, ?)"},
		{&w.stored, "select key, id, proof, raw from events where key between ? and ? order by key"},
	})
}

// loop serves the queue until the log is closed.
func (w *writer) loop() {
	defer close(w.d.done)
	poll := time.NewTicker(w.d.poll)
	defer poll.Stop()
	for {
		select {
		case r := <-w.d.queue:
			w.serve(w.gather(r))
		case <-w.moving:
			w.moving = nil
			if w.failed == nil {
				w.tidy()
			}
		case <-poll.C:
			w.checkpoint()
			w.checkOthers()
		case <-w.d.closing:
			w.finish()
			return
		}
	}
}

// gather adds the other waiting requests, up to batchLimit.
func (w *writer) gather(first *request) []*request {
	batch := []*request{first}
	for len(batch) < batchLimit {
		select {
		case r := <-w.d.queue:
			batch = append(batch, r)
		default:
			return batch
		}
	}
	return batch
}

// serve executes a batch and answers its requests after the commit is on stable
// storage.
func (w *writer) serve(batch []*request) {
	touched, err := w.write(batch)
	for _, r := range batch {
		if err != nil {
			r.err = err
		}
	}
	if w.purge {
		w.tidy() // before the answer, so that redacted text is gone by then
	}
	if err == nil {
		w.d.news.Tell(touched)
	}
	for _, r := range batch {
		close(r.done)
	}
	if err == nil {
		w.checkpointIfLong()
	}
}

// checkOthers wakes followers when another process has written.
func (w *writer) checkOthers() {
	if w.failed != nil || !w.d.news.Wanted() {
		return
	}
	before := w.seen
	if err := w.refresh(); err == nil && w.seen != before {
		w.d.news.TellAll()
	}
}

// finish answers queued requests with an error and closes the connection.
func (w *writer) finish() {
	for {
		select {
		case r := <-w.d.queue:
			r.err = errClosed
			close(r.done)
			continue
		default:
		}
		break
	}
	w.awaitCheckpoint()
	if w.failed == nil && w.purge {
		w.tidy() // closing the last connection would empty it too, but there may be others
	}
	w.d.news.TellAll()
	err := w.d.heads.sync()
	w.d.heads.close()
	if err = errors.Join(err, w.c.Close()); err != nil && w.failed == nil {
		w.d.end = w.d.fileError("closing", err)
	}
}

// write runs a batch in one transaction and returns the rooms it changed. An
// error is that of every request in it.
func (w *writer) write(batch []*request) ([]string, error) {
	if w.failed != nil {
		return nil, w.failed
	}
	for {
		again, err := w.attempt(batch)
		if err != nil {
			return nil, w.fail(err)
		}
		if !again {
			break
		}
	}
	if err := w.keepHeads(w.changed); err != nil {
		w.failed = failure(err)
		return nil, w.failed
	}
	w.pending, w.last = true, time.Now()
	touched := make([]string, 0, len(w.changed))
	for _, t := range w.changed {
		t.dirty, t.restored = false, false
		touched = append(touched, t.name)
	}
	w.changed = w.changed[:0]
	return touched, nil
}

// attempt runs one transaction. again says that it was rolled back because a
// request must be left out.
func (w *writer) attempt(batch []*request) (again bool, err error) {
	if err := w.begin.exec(); err != nil {
		return false, err
	}
	if err := w.refresh(); err != nil {
		return false, w.abandon(err)
	}
	for _, r := range batch {
		if r.run == nil {
			continue // left out
		}
		r.err = r.run(w)
		if alone, ok := errors.AsType[errAlone](r.err); ok {
			r.err, r.run = alone.cause, nil
			return true, w.abandon(nil)
		}
		if primary(r.err) == codes.SQLITE_CORRUPT { // nothing is written; the pages of other rooms may be intact
			r.run = nil
			return true, w.abandon(nil)
		}
		if primary(r.err) != 0 {
			return false, w.abandon(r.err)
		}
	}
	for _, t := range w.changed {
		sum := t.sum()
		if err := w.updateRoom.exec(int64(t.last), t.hash[:], t.updated, t.wakeValue(), t.bytes, sum[:], t.id); err != nil {
			if primary(err) == codes.SQLITE_CORRUPT && leaveOut(batch, t.name, err) {
				return true, w.abandon(nil)
			}
			return false, w.abandon(err)
		}
	}
	if err := w.commit.exec(); err != nil {
		return false, w.abandon(err)
	}
	return false, nil
}

// leaveOut gives the requests of a room an error and reports whether there are any.
func leaveOut(batch []*request, room string, err error) (found bool) {
	for _, r := range batch {
		if r.room == room && r.run != nil {
			r.err, r.run, found = err, nil, true
		}
	}
	return found
}

// abandon rolls back, forgets the changed rooms, and returns err.
func (w *writer) abandon(err error) error {
	for _, t := range w.changed {
		delete(w.known, t.name)
	}
	w.changed = w.changed[:0]
	// SQLite has rolled back by itself after some errors and then says so.
	if rollback := w.rollback.exec(); rollback != nil && err == nil {
		return rollback
	}
	return err
}

// fail makes the handle acknowledge nothing any more, unless the error is known
// to have written nothing.
func (w *writer) fail(err error) error {
	explained := w.d.explain("writing", err)
	if errors.Is(explained, log.ErrUnknown) { // busy: the lock was not obtained
		return explained
	}
	w.failed = failure(explained)
	return w.failed
}

// refresh forgets the known rooms when another process has written, and when most of them are
// not locked any more.
func (w *writer) refresh() error {
	version, err := integer(w.version.one())
	if err != nil {
		return err
	}
	if version != w.seen || len(w.known) > spareTails+2*w.d.locks.count() {
		clear(w.known)
	}
	w.seen = version
	return nil
}

// room returns the tail of a room, nil when there is no such room.
func (w *writer) room(name string) (*tail, error) {
	if t := w.known[name]; t != nil {
		return t, nil
	}
	row, err := w.find.one(name)
	if errors.Is(err, errNoRow) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t, err := scanTail(row)
	if err != nil {
		return nil, err
	}
	w.known[name] = &t
	return &t, nil
}

// change marks a room's row to be written with the transaction.
func (w *writer) change(t *tail) {
	if !t.dirty {
		t.dirty = true
		w.changed = append(w.changed, t)
	}
	w.known[t.name] = t
}
