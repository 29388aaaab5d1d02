package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
	codes "modernc.org/sqlite/lib"
)

// Append implements [log.Appender]. An id that the room has at another place
// is a conflict: the caller knows an old state of the room.
func (d *DB) Append(ctx context.Context, name string, after log.Pos, wake time.Time, evs ...room.Event) (log.Pos, bool, error) {
	if err := log.CheckName(name); err != nil {
		return log.Pos{}, false, err
	}
	if len(evs) == 0 {
		return log.Pos{}, false, errors.New("appending: no events")
	}
	entries, err := log.Seal(after.Seq, evs)
	if err != nil {
		return log.Pos{}, false, fmt.Errorf("appending to room %s: %w", name, err)
	}
	a := &appending{room: name, after: after.Seq, wake: rows.Nanos(wake), entries: entries}
	if err := d.submitFor(ctx, name, after.Seq+1, a.run); err != nil {
		return log.Pos{}, false, err
	}
	return log.Pos{Seq: a.last, Tok: a.last}, a.dup, nil
}

// submit gives a write to the writer and waits for its end. When ctx ends first,
// the write may still happen.
func (d *DB) submit(ctx context.Context, run func(*writer) error) error {
	return d.explain("writing", d.enqueue(ctx, "", run))
}

// submitFor is submit for a write of one room. The error names the room, and the event
// if seq is not zero, when a page that it needs is damaged.
func (d *DB) submitFor(ctx context.Context, name string, seq uint64, run func(*writer) error) error {
	return d.explain("writing", blame(d.enqueue(ctx, name, run), name, seq))
}

// enqueue is submit, with a damaged page as SQLite reports it.
func (d *DB) enqueue(ctx context.Context, room string, run func(*writer) error) error {
	if d.readOnly {
		return &problem.Error{
			Code: "LOG-READONLY", What: "the log was opened for reading only", Where: d.path, Kind: log.ErrFailed,
			Fix: "choose another folder with --data, or make this one writable",
		}
	}
	if err := ctx.Err(); err != nil {
		return unknown(err)
	}
	r := &request{room: room, run: run, done: make(chan struct{})}
	select {
	case d.queue <- r:
	case <-ctx.Done():
		return unknown(ctx.Err())
	case <-d.done:
		return errClosed
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return unknown(ctx.Err())
	case <-d.done: // the writer may have answered just before it ended
		select {
		case <-r.done:
			return r.err
		default:
			return errClosed
		}
	}
}

func unknown(err error) error {
	return fmt.Errorf("appending: %w: %w", log.ErrUnknown, err)
}

// An appending is the writer's side of Append.
type appending struct {
	room    string
	after   uint64
	wake    int64
	entries []log.Entry

	last uint64
	dup  bool
}

func (a *appending) run(w *writer) error {
	t, err := w.room(a.room)
	if err != nil {
		return err
	}
	if err := w.checkHead(a.room, t); err != nil {
		return err
	}
	if t == nil && a.after != 0 {
		return fmt.Errorf("appending: room %s does not exist: %w", a.room, log.ErrConflict)
	}
	if t != nil && t.last != a.after {
		return a.again(w, t)
	}
	if t == nil {
		id, err := integer(w.insertRoom.one(a.room))
		if err != nil {
			return err
		}
		t = &tail{id: id, name: a.room}
	}
	return a.write(w, t)
}

// write inserts the events at the tail and marks the room's row as changed.
func (a *appending) write(w *writer, t *tail) error {
	if a.after+uint64(len(a.entries)) > maxSeq {
		return fmt.Errorf("appending: room %s is full", a.room)
	}
	w.change(t) // first, so that a rollback forgets t
	for i := range a.entries {
		e := &a.entries[i]
		e.Hash = log.Link(t.hash, e.Seq, e.Commit)
		if err := w.insert("appending", t, e, e.Raw); err != nil {
			return err
		}
	}
	w.pages += 2
	t.wake, t.updated = a.wake, time.Now().UnixNano()
	a.last, a.dup = t.last, false // again may have set them in a transaction that was rolled back
	return nil
}

// insert stores an entry at the tail, with raw in the place of its body. The
// room's row is written with the transaction.
func (w *writer) insert(doing string, t *tail, e *log.Entry, raw []byte) error {
	err := w.insertEvent.exec(key(t.id, e.Seq), e.Event.ID, rows.Proof(e, raw), raw)
	if primary(err) == codes.SQLITE_CONSTRAINT {
		return errAlone{fmt.Errorf("%s: room %s has event id %q at another place: %w", doing, t.name, e.Event.ID, log.ErrConflict)}
	}
	if err != nil {
		return err
	}
	t.hash, t.last = e.Hash, e.Seq
	t.bytes += int64(len(raw))
	w.pages += 1 + len(raw)/2048
	return nil
}

// again distinguishes a retry, whose events are all stored at their places, from
// a writer that has lost the room. It compares whole events, because two
// coordinators that claim a room at once may give the same id to different events.
func (a *appending) again(w *writer, t *tail) error {
	i := 0
	err := w.stored.each(func(row []driver.Value) error {
		e, err := scanEntry(row)
		if err == nil && i < len(a.entries) && rows.Same(&e, &a.entries[i]) {
			i++
		}
		return nil // a damaged event is no retry; readers report it
	}, key(t.id, a.after+1), key(t.id, a.after+uint64(len(a.entries))))
	if err != nil {
		return err
	}
	if i < len(a.entries) {
		return fmt.Errorf("appending to room %s after event %d, which ends at %d: %w", a.room, a.after, t.last, log.ErrConflict)
	}
	a.last, a.dup = a.after+uint64(len(a.entries)), true
	return nil
}

// Restore puts a whole room back as it was exported: with the salts and
// commitments of its entries, and stubs where it was redacted, so that its
// chain is the one it had. All of it is stored or none. The chain is checked
// first; a room that exists already is [log.ErrConflict].
func (d *DB) Restore(ctx context.Context, name string, entries []log.Entry) error {
	return d.PutBack(ctx, name, entries, time.Time{}, true)
}

// PutBack is Restore with a wake time. imported says that the log was written elsewhere.
func (d *DB) PutBack(ctx context.Context, name string, entries []log.Entry, wake time.Time, imported bool) error {
	if err := log.CheckWhole(name, entries); err != nil {
		return err
	}
	raws := make([][]byte, len(entries))
	for i := range entries {
		var err error
		if raws[i], err = rows.Raw(&entries[i]); err != nil {
			return fmt.Errorf("restoring event %d of room %s: %w", entries[i].Seq, name, err)
		}
	}
	return d.submitFor(ctx, name, 0, func(w *writer) error {
		t, err := w.newRoom(name, entries, imported)
		if err != nil {
			return err
		}
		for i := range entries {
			if err := w.insert("restoring", t, &entries[i], raws[i]); err != nil {
				return err
			}
		}
		w.pages += 2
		t.wake, t.updated = rows.Nanos(wake), time.Now().UnixNano()
		return nil
	})
}

// newRoom makes the row of a room that gets these entries.
func (w *writer) newRoom(name string, entries []log.Entry, imported bool) (*tail, error) {
	t, err := w.room(name)
	if err != nil {
		return nil, err
	}
	if t != nil {
		return nil, fmt.Errorf("restoring: room %s exists: %w", name, log.ErrConflict)
	}
	if want, ok := w.d.heads.of(name); ok {
		if n := uint64(len(entries)); n < want.seq || entries[want.seq-1].Hash != want.hash {
			return nil, log.Short(name, n, want.seq)
		}
		w.d.heads.reached(name)
	}
	id, err := integer(w.insertRoom.one(name))
	if err != nil {
		return nil, err
	}
	if imported {
		if err := w.c.exec("insert into imported values(?)", id); err != nil {
			return nil, err
		}
	}
	t = &tail{id: id, name: name, restored: true}
	w.change(t)
	return t, nil
}

// Imported reports whether the room was restored. The log of such a room was
// written elsewhere, so its commands are not trusted on this machine.
func (d *DB) Imported(ctx context.Context, name string) (bool, error) {
	found := false
	err := d.read(ctx, func(r *reader) error {
		return r.list("select 1 from imported join rooms on rooms.id = imported.room where name = ?", func([]driver.Value) error {
			found = true
			return nil
		}, name)
	})
	return found, err
}
