package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

// Restore puts a whole room back as it was exported: with the salts and commitments of its
// entries, and stubs where it was redacted, so that its chain is the one it had. All of it
// is stored or none. The chain is checked first; a room that exists already is
// [log.ErrConflict].
func (d *DB) Restore(ctx context.Context, name string, entries []log.Entry) error {
	return d.PutBack(ctx, name, entries, time.Time{}, true)
}

// PutBack is Restore with a wake time. imported says that the log was written elsewhere.
func (d *DB) PutBack(ctx context.Context, name string, entries []log.Entry, wake time.Time, imported bool) error {
	if err := log.CheckWhole(name, entries); err != nil {
		return err
	}
	end := &entries[len(entries)-1]
	t := tail{name: name, last: int64(end.Seq), hash: end.Hash, updated: time.Now().UnixNano(), wake: rows.Nanos(wake)}
	columns := make([][]any, len(entries))
	for i := range entries {
		e := &entries[i]
		raw, err := rows.Raw(e)
		if err != nil {
			return fmt.Errorf("restoring event %d of room %s: %w", e.Seq, name, err)
		}
		t.bytes += int64(len(raw))
		columns[i] = []any{int64(e.Seq), []byte(e.Event.ID), rows.Proof(e, raw), raw}
	}
	return d.change(ctx, "restoring", func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return t.restore(ctx, tx, columns, imported) })
	})
}

// restored is how many events are sent to the server at a time.
const restored = 500

func (t *tail) restore(ctx context.Context, tx pgx.Tx, columns [][]any, imported bool) error {
	sum := t.sum()
	var id int64
	err := tx.QueryRow(ctx, insertRoom+" returning id", t.name, t.last, t.hash[:], t.updated, t.wake, t.bytes, sum[:]).Scan(&id)
	if noRow(err) {
		return fmt.Errorf("restoring: room %s exists: %w", t.name, log.ErrConflict)
	}
	if err == nil && imported {
		_, err = tx.Exec(ctx, "insert into moot_imported(room) values($1)", id)
	}
	for len(columns) > 0 && err == nil {
		n := min(restored, len(columns))
		b := &pgx.Batch{}
		for _, c := range columns[:n] {
			b.Queue("insert into moot_events(room, seq, id, proof, raw) values($1, $2, $3, $4, $5)", append([]any{id}, c...)...)
		}
		err = tx.SendBatch(ctx, b).Close()
		columns = columns[n:]
	}
	if hasCode(err, uniqueViolation) {
		err = fmt.Errorf("restoring: room %s has an event id twice: %w", t.name, log.ErrConflict)
	}
	return err
}

// Imported reports whether the room was restored. The log of such a room was written
// elsewhere, so its commands are not trusted on this machine.
func (d *DB) Imported(ctx context.Context, name string) (found bool, err error) {
	err = d.read(ctx, func(ctx context.Context) error {
		return d.pool.QueryRow(ctx, "select exists(select 1 from moot_imported i join moot_rooms r on r.id = i.room where r.name = $1)", name).Scan(&found)
	})
	return found, err
}
