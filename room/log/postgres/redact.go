package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

// Redact implements [log.Redactor]. No other process may hold the room, because its next
// snapshot would restore the text. Redact skips events that are redacted already, and
// redacts all others or none. A stub names its event by Seq and ID.
//
// The server overwrites nothing: the old rows are in its files until a vacuum, and in its
// write-ahead log, archives and backups until these are removed.
func (d *DB) Redact(ctx context.Context, name string, stubs ...room.Event) error {
	raws := make([][]byte, len(stubs))
	for i, stub := range stubs {
		raw, err := room.MarshalEvent(stub)
		if err != nil {
			return fmt.Errorf("redacting: encoding the stub of event %d: %w", stub.Seq, err)
		}
		raws[i] = raw
	}
	defer d.tails.forget(name)
	return d.holding(ctx, "redacting", name, func(ctx context.Context, tx pgx.Tx) error {
		var s scannedTail
		err := tx.QueryRow(ctx, "select "+columnsOfRoom+" from moot_rooms r where r.name = $1 for update", name).Scan(s.fields()...)
		if noRow(err) {
			return fmt.Errorf("redacting: room %s: %w", name, log.ErrNotFound)
		}
		if err != nil {
			return err
		}
		old, err := s.checked()
		if err != nil {
			return err
		}
		t := old
		for i, stub := range stubs {
			if err := redact(ctx, tx, &t, stub, raws[i]); err != nil {
				return err
			}
		}
		sum := t.sum()
		_, err = tx.Exec(ctx, "update moot_rooms set bytes = $2, sum = $3 where id = $1", t.id, t.bytes, sum[:])
		if err == nil {
			_, err = tx.Exec(ctx, "delete from moot_snapshots where room = $1", t.id)
		}
		return err
	})
}

// redact replaces an event's body and salt by a stub, after it has verified them against
// the chain.
func redact(ctx context.Context, tx pgx.Tx, t *tail, stub room.Event, raw []byte) error {
	seq := stub.Seq
	if seq <= 0 || seq > t.last {
		return fmt.Errorf("redacting: room %s has no event %d: %w", t.name, seq, log.ErrNotFound)
	}
	found, err := tx.Query(ctx, "select seq, id, proof, raw from moot_events where room = $1 and seq in ($2, $3) order by seq", t.id, seq-1, seq)
	if err != nil {
		return err
	}
	entries, _, err := scanEntries(found)
	if errors.Is(err, log.ErrCorrupt) {
		return log.Corrupt(t.name, uint64(seq), "its row is damaged")
	}
	if err != nil {
		return err
	}
	var previous [32]byte
	if seq > 1 && len(entries) == 2 {
		previous, entries = entries[0].Hash, entries[1:]
	}
	if len(entries) != 1 || entries[0].Seq != uint64(seq) {
		return log.Corrupt(t.name, uint64(seq), fmt.Sprintf("event %d is missing", seq))
	}
	e := entries[0]
	if e.Redacted {
		return nil
	}
	if stub.ID != e.Event.ID {
		return fmt.Errorf("redacting: event %d of room %s is %q, not %q", seq, t.name, e.Event.ID, stub.ID)
	}
	e.Commit = log.Commit(e.Salt, e.Raw)
	if log.Link(previous, e.Seq, e.Commit) != e.Hash {
		return log.Corrupt(t.name, uint64(seq), "it is not the event that was appended")
	}
	t.bytes += int64(len(raw) - len(e.Raw))
	e.Redacted = true
	_, err = tx.Exec(ctx, "update moot_events set proof = $3, raw = $4 where room = $1 and seq = $2", t.id, seq, rows.Proof(&e, raw), raw)
	return err
}

// Remove implements [log.Redactor]. No other process may hold the room. A damaged room is
// removed too.
func (d *DB) Remove(ctx context.Context, name string) error {
	defer d.tails.forget(name)
	err := d.holding(ctx, "removing", name, func(ctx context.Context, tx pgx.Tx) error {
		var id int64
		err := tx.QueryRow(ctx, "select id from moot_rooms where name = $1 for update", name).Scan(&id)
		if noRow(err) {
			return fmt.Errorf("removing: room %s: %w", name, log.ErrNotFound)
		}
		for _, sql := range []string{
			"delete from moot_events where room = $1", "delete from moot_snapshots where room = $1",
			"delete from moot_imported where room = $1", "delete from moot_rooms where id = $1",
		} {
			if err == nil {
				_, err = tx.Exec(ctx, sql, id)
			}
		}
		return err
	})
	if err == nil {
		d.news.Tell([]string{name})
	}
	return err
}

// holding runs f in a transaction that holds the room's lock. It takes the lock if this
// handle does not have it.
func (d *DB) holding(ctx context.Context, doing, name string, f func(context.Context, pgx.Tx) error) error {
	if err := log.CheckName(name); err != nil {
		return err
	}
	if d.readOnly {
		return d.readOnlyError()
	}
	if !d.locks.held(name) {
		unlock, err := d.Lock(ctx, name)
		if err != nil {
			return err
		}
		defer unlock()
	}
	return d.change(ctx, doing, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
			var holder string
			err := tx.QueryRow(ctx, "select holder from moot_locks where room = $1 for update", name).Scan(&holder)
			if err == nil && holder != d.id || noRow(err) {
				return lockedError(name, "another process")
			}
			if err != nil {
				return err
			}
			return f(ctx, tx)
		})
	})
}
