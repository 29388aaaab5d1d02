package sqlite

import (
	"errors"
	"time"
)

const (
	queueLength = 1024 // requests waiting for the writer
	batchLimit  = 512  // requests in one transaction
	knownRooms  = 16384
)

// A request is one write. The writer runs it within a transaction and closes
// done when that is on stable storage, or err says why it is not.
type request struct {
	run  func(*writer) error
	err  error
	done chan struct{}
}

// errAlone is what a request answers that has changed something before it was
// refused: the transaction is rolled back and done again without it.
type errAlone struct{ cause error }

func (e errAlone) Error() string { return e.cause.Error() }

// A writer is the one goroutine that writes, with its connection.
type writer struct {
	d     *DB
	c     *conn
	known map[string]*tail // as committed or staged; empty after another process wrote
	stage []*tail          // changed in the open transaction

	begin, commit, rollback, version, find, insertRoom, updateRoom,
	insertEvent, stored *statement

	seen   int64 // data_version: changes when another process commits
	pages  int   // estimate of the write-ahead log's growth since the last checkpoint
	purge  bool  // the write-ahead log holds what has been redacted
	failed error
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
	go w.loop()
	return nil
}

func (w *writer) prepare() error {
	for _, p := range []struct {
		to  **statement
		sql string
	}{
		{&w.begin, "begin immediate"},
		{&w.commit, "commit"},
		{&w.rollback, "rollback"},
		{&w.version, "pragma data_version"},
		{&w.find, "select " + columnsOfRoom + " from rooms where name = ?"},
		{&w.insertRoom, "insert into rooms(name, last, hash, updated, bytes, sum) values(?, 0, zeroblob(32), 0, 0, zeroblob(8)) returning id"},
		{&w.updateRoom, "update rooms set last = ?, hash = ?, updated = ?, wake = ?, bytes = ?, sum = ? where id = ?"},
		{&w.insertEvent, "insert into events(key, id, proof, raw) values(?, ?, ?, ?)"},
		{&w.stored, "select key, id, proof, raw from events where key between ? and ? order by key"},
	} {
		s, err := w.c.prepare(p.sql)
		if err != nil {
			return err
		}
		*p.to = s
	}
	return nil
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
		case <-poll.C:
			w.look()
		case <-w.d.closing:
			w.finish()
			return
		}
	}
}

// gather takes what else is waiting.
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

// serve answers a batch: all that succeeds is on stable storage by then.
func (w *writer) serve(batch []*request) {
	touched, err := w.write(batch)
	for _, r := range batch {
		if err != nil {
			r.err = err
		}
	}
	if w.purge {
		w.tidy() // before the answer: what was redacted is gone by then
	}
	if err == nil {
		w.d.news.tell(touched)
	}
	for _, r := range batch {
		close(r.done)
	}
	if err == nil && w.pages >= checkpointPages {
		w.tidy()
	}
}

// look wakes followers when another process has written, and tries again to
// empty the write-ahead log.
func (w *writer) look() {
	if w.failed == nil && w.purge {
		// Its failure is that of the next write.
		_ = w.empty(0)
	}
	if w.failed != nil || !w.d.news.wanted() {
		return
	}
	before := w.seen
	if err := w.refresh(); err == nil && w.seen != before {
		w.d.news.tellAll()
	}
}

// finish answers what is queued with an error and closes the connection.
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
	if w.failed == nil && w.purge {
		w.tidy() // closing the last connection would empty it too, but there may be others
	}
	w.d.news.tellAll()
	if err := w.c.Close(); err != nil && w.failed == nil {
		w.d.end = w.d.explain("closing", err)
	}
}
