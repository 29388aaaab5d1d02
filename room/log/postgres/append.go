package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

const (
	insertRoom = `insert into moot_rooms(name, last, hash, updated, wake, bytes, sum) values($1, $2, $3, $4, $5, $6, $7) on conflict (name) do nothing`
	updateRoom = `update moot_rooms set last = $2, hash = $3, updated = $4, wake = $5, bytes = $6, sum = $7 where name = $1 and hash = $8 and sum = $9`
	// insertEvent stores nothing where the room's row is not the one that was written before it.
	insertEvent = `insert into moot_events(room, seq, id, proof, raw)
		select id, cast($3 as bigint), cast($4 as bytea), cast($5 as bytea), cast($6 as bytea) from moot_rooms where name = $1 and hash = $2`
)

// Append implements [log.Appender]. An id that the room has at another place is a
// conflict: the caller knows an old state of the room.
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
	if err := ctx.Err(); err != nil {
		return log.Pos{}, false, fmt.Errorf("appending: %w: %w", log.ErrUnknown, err)
	}
	a := &appending{d: d, room: name, after: int64(after.Seq), wake: rows.Nanos(wake), entries: entries}
	if err := d.change(ctx, "appending", a.run); err != nil {
		d.tails.forget(name)
		return log.Pos{}, false, err
	}
	d.news.Tell([]string{name})
	last := after.Seq + uint64(len(entries))
	return log.Pos{Seq: last, Tok: last}, a.dup, nil
}

// An appending is one call of Append.
type appending struct {
	d       *DB
	room    string
	after   int64
	wake    int64
	entries []log.Entry
	dup     bool
}

func (a *appending) run(ctx context.Context) error {
	if t, ok := a.d.tails.of(a.room); ok && t.last == a.after {
		if done, err := a.write(ctx, t); done || err != nil {
			return err
		}
	}
	t, err := a.d.tail(ctx, a.room)
	if errors.Is(err, log.ErrNotFound) {
		if a.after != 0 {
			return fmt.Errorf("appending: room %s does not exist: %w", a.room, log.ErrConflict)
		}
		t, err = tail{name: a.room}, nil
	}
	if err != nil {
		return err
	}
	if t.last == a.after {
		if done, err := a.write(ctx, t); done || err != nil {
			return err
		}
	}
	return a.again(ctx)
}

// write stores the events after t, in one transaction. done is false when the room's row is
// not t any more.
func (a *appending) write(ctx context.Context, t tail) (done bool, err error) {
	next := t
	next.updated, next.wake = time.Now().UnixNano(), a.wake
	for i := range a.entries {
		e := &a.entries[i]
		e.Hash = log.Link(next.hash, e.Seq, e.Commit)
		next.hash, next.last, next.bytes = e.Hash, int64(e.Seq), next.bytes+int64(len(e.Raw))
	}
	b := &pgx.Batch{}
	next.queue(b, &t)
	for i := range a.entries {
		e := &a.entries[i]
		b.Queue(insertEvent, a.room, next.hash[:], int64(e.Seq), []byte(e.Event.ID), rows.Proof(e, nil), e.Raw)
	}
	done, err = send(ctx, a.d, b)
	if hasCode(err, uniqueViolation) {
		err = fmt.Errorf("appending: room %s has one of the event ids at another place: %w", a.room, log.ErrConflict)
	}
	if done && err == nil {
		a.d.tails.keep(next)
	}
	return done, err
}

// queue adds the write of the room's row, in the place of old.
func (t *tail) queue(b *pgx.Batch, old *tail) {
	sum, before := t.sum(), old.sum()
	if old.last == 0 {
		b.Queue(insertRoom, t.name, t.last, t.hash[:], t.updated, t.wake, t.bytes, sum[:])
		return
	}
	b.Queue(updateRoom, t.name, t.last, t.hash[:], t.updated, t.wake, t.bytes, sum[:], old.hash[:], before[:])
}

// send executes a batch, which is one transaction, and reports whether its first statement
// changed a row.
func send(ctx context.Context, d *DB, b *pgx.Batch) (done bool, err error) {
	c, err := d.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer c.Release()
	results := c.SendBatch(ctx, b)
	tag, err := results.Exec()
	for range b.Len() - 1 {
		if err == nil {
			_, err = results.Exec()
		}
	}
	if closed := results.Close(); err == nil { // the commit
		err = closed
	}
	if warned := c.Conn().PgConn().CustomData(); err == nil && warned[warning] != nil {
		err = fmt.Errorf("%w: %v", log.ErrUnknown, warned[warning])
		delete(warned, warning)
	}
	return tag.RowsAffected() == 1, err
}

// again distinguishes a retry, whose events are all stored at their places, from a writer
// that has lost the room. It compares whole events, because two coordinators that claim a
// room at once may give the same id to different events.
//
// The events may have been stored by a commit whose wait for the standbys was cut off.
// Another commit waits for all before it, so the retry makes one.
func (a *appending) again(ctx context.Context) error {
	found, err := a.d.pool.Query(ctx, `select e.seq, e.id, e.proof, e.raw from moot_rooms r join moot_events e on e.room = r.id
		where r.name = $1 and e.seq > $2 and e.seq <= $3 order by e.seq`, a.room, a.after, a.after+int64(len(a.entries)))
	if err != nil {
		return err
	}
	stored, _, err := scanEntries(found)
	if err != nil {
		return err
	}
	for i := range a.entries {
		if i >= len(stored) || !rows.Same(&stored[i], &a.entries[i]) {
			return fmt.Errorf("appending to room %s after event %d, which has moved on: %w", a.room, a.after, log.ErrConflict)
		}
	}
	if _, err := a.d.pool.Exec(ctx, "update moot_rooms set name = name where name = $1", a.room); err != nil {
		return err
	}
	a.dup = true
	return nil
}
