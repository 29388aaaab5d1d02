package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

// Redact implements [log.Redactor]. No other process may hold the room, because
// its next snapshot would restore the text. Redact skips events that are redacted
// already, and redacts all others or none. A stub names its event by Seq and ID.
//
// The bytes are overwritten in the file. The write-ahead log, which holds copies,
// is emptied before Redact returns or, if a reader prevents that, soon after.
func (d *DB) Redact(ctx context.Context, name string, stubs ...room.Event) error {
	raws := make([][]byte, len(stubs))
	for i, stub := range stubs {
		raw, err := room.MarshalEvent(stub)
		if err != nil {
			return fmt.Errorf("redacting: encoding the stub of event %d: %w", stub.Seq, err)
		}
		raws[i] = raw
	}
	return d.holding(ctx, name, func(w *writer) error {
		t, err := w.room(name)
		if err != nil {
			return err
		}
		if t == nil {
			return fmt.Errorf("redacting: room %s: %w", name, log.ErrNotFound)
		}
		for i, stub := range stubs {
			if err := w.redact(t, stub, raws[i]); err != nil {
				if t.dirty && primary(err) == 0 {
					return errAlone{err}
				}
				return err
			}
		}
		w.purge = true
		return w.c.exec("delete from snapshots where room = ?", t.id)
	})
}

// redact replaces an event's body and salt by a stub, after it has verified them
// against the chain.
func (w *writer) redact(t *tail, stub room.Event, raw []byte) error {
	seq := uint64(stub.Seq)
	if seq == 0 || seq > t.last {
		return fmt.Errorf("redacting: room %s has no event %d: %w", t.name, seq, log.ErrNotFound)
	}
	row, err := w.c.one("select key, id, proof, raw from events where key = ?", key(t.id, seq))
	if errors.Is(err, errNoRow) {
		return log.Corrupt(t.name, seq, fmt.Sprintf("event %d is missing", seq))
	}
	if err != nil {
		return err
	}
	e, err := scanEntry(row)
	if err != nil {
		return log.Corrupt(t.name, seq, err.Error())
	}
	if e.Redacted {
		return nil
	}
	if stub.ID != e.Event.ID {
		return fmt.Errorf("redacting: event %d of room %s is %q, not %q", seq, t.name, e.Event.ID, stub.ID)
	}
	if err := w.commitment(t, &e); err != nil {
		return err
	}
	w.change(t)
	t.bytes += int64(len(raw) - len(e.Raw))
	e.Redacted = true
	return w.c.exec("update events set proof = ?, raw = ? where key = ?", rows.Proof(&e, raw), raw, key(t.id, seq))
}

// commitment fills in the commitment of an entry and checks it.
func (w *writer) commitment(t *tail, e *log.Entry) error {
	previous, err := w.hash(t, e.Seq-1)
	if err != nil {
		return err
	}
	e.Commit = log.Commit(e.Salt, e.Raw)
	if log.Link(previous, e.Seq, e.Commit) != e.Hash {
		return log.Corrupt(t.name, e.Seq, "it is not the event that was appended")
	}
	return nil
}

// Remove implements [log.Redactor]. No other process may hold the room. A damaged room
// is removed too, unless the damage is in the structure of the database.
func (d *DB) Remove(ctx context.Context, name string) error {
	return d.holding(ctx, name, func(w *writer) error {
		t, err := w.damagedRoom(name)
		if err != nil {
			return err
		}
		if _, short := w.d.heads.of(name); t == nil && !short {
			return fmt.Errorf("removing: room %s: %w", name, log.ErrNotFound)
		}
		var last head
		if t != nil {
			last = head{t.last, t.hash}
			if err := w.deleteRoom(t); err != nil {
				return err
			}
		}
		// The record is durable before the commit: a removed room without it would be one
		// that has lost its events.
		err = w.d.heads.append(headRecord{removedKind, name, last})
		if err == nil {
			err = w.d.heads.sync()
		}
		if err != nil {
			return errAlone{w.d.fileError("removing a room from "+HeadsName, err)}
		}
		if t == nil {
			return nil // nothing else is left of it
		}
		w.purge = true
		delete(w.known, name)
		return nil
	})
}

// deleteRoom deletes the rows of a room.
func (w *writer) deleteRoom(t *tail) error {
	t.removed = true
	w.change(t) // wakes followers of the room
	for _, sql := range []string{
		"delete from events where key between ?1 << 36 and (?1 << 36) + 68719476735",
		"delete from snapshots where room = ?1", "delete from imported where room = ?1", "delete from rooms where id = ?1",
	} {
		if err := w.c.exec(sql, t.id); err != nil {
			return err
		}
	}
	return nil
}

// damagedRoom is room, also when the room's row in the index is damaged: only its id, and
// its last event if it is known, are of use then.
func (w *writer) damagedRoom(name string) (*tail, error) {
	t, err := w.room(name)
	if !errors.Is(err, log.ErrCorrupt) {
		return t, err
	}
	// Not by the index of names: a damaged one would lead to another room.
	id, found := integer(w.c.one("select id from rooms not indexed where name = ?", name))
	if found != nil {
		return nil, err
	}
	want, _ := w.d.heads.of(name)
	return &tail{id: id, name: name, last: want.seq, hash: want.hash}, nil
}

// holding submits a write that needs the room's lock. It takes the lock if this
// handle does not hold it.
func (d *DB) holding(ctx context.Context, name string, run func(*writer) error) error {
	if err := log.CheckName(name); err != nil {
		return err
	}
	if !d.readOnly && !d.locks.held(name) {
		unlock, err := d.Lock(ctx, name)
		if err != nil {
			return err
		}
		defer unlock()
	}
	return d.submitFor(ctx, name, 0, run)
}
