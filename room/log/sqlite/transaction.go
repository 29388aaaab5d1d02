package sqlite

import (
	"errors"

	"github.com/folkmoot/moot/room/log"
)

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
	touched := make([]string, 0, len(w.stage))
	for _, t := range w.stage {
		t.dirty = false
		touched = append(touched, t.name)
	}
	w.stage = w.stage[:0]
	return touched, nil
}

// attempt is one transaction. again says that it was rolled back because a
// request in it must be left out.
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
		if primary(r.err) != 0 {
			return false, w.abandon(r.err)
		}
	}
	for _, t := range w.stage {
		sum := t.sum()
		if err := w.updateRoom.exec(int64(t.last), t.hash[:], t.updated, t.wakeValue(), t.bytes, sum[:], t.id); err != nil {
			return false, w.abandon(err)
		}
	}
	if err := w.commit.exec(); err != nil {
		return false, w.abandon(err)
	}
	return false, nil
}

// abandon rolls back and forgets what was staged. It returns err.
func (w *writer) abandon(err error) error {
	for _, t := range w.stage {
		delete(w.known, t.name)
	}
	w.stage = w.stage[:0]
	// SQLite has rolled back by itself after some errors and then says so.
	if rollback := w.rollback.exec(); rollback != nil && err == nil {
		return rollback
	}
	return err
}

// fail makes the handle acknowledge nothing more, but for an error that is
// known to have written nothing.
func (w *writer) fail(err error) error {
	explained := w.d.explain("writing", err)
	if errors.Is(explained, log.ErrUnknown) { // busy: the lock was not had
		return explained
	}
	w.failed = failure(explained)
	return w.failed
}

// refresh forgets what is known when another process has written.
func (w *writer) refresh() error {
	version, err := integer(w.version.one())
	if err != nil {
		return err
	}
	if version != w.seen || len(w.known) > knownRooms {
		clear(w.known)
	}
	w.seen = version
	return nil
}

// room returns what is known of a room, nil when there is no such room.
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

// change notes that a room's row is to be written with the transaction.
func (w *writer) change(t *tail) {
	if !t.dirty {
		t.dirty = true
		w.stage = append(w.stage, t)
	}
	w.known[t.name] = t
}
