package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/room/log"
)

// Check verifies the whole file: its structure, the index of rooms, the chain of
// every room, snapshots and blobs. The error joins one error for each defect.
func (d *DB) Check(ctx context.Context) error {
	var rooms []tail
	var events int64
	var digests []string
	found := d.read(ctx, func(r *reader) error {
		return errors.Join(
			d.checkStructure(r),
			r.list("select "+columnsOfRoom+" from rooms not indexed", func(row []driver.Value) error {
				t, err := scanTail(row)
				rooms = append(rooms, t)
				return err
			}),
			r.list("select digest from blobs not indexed", func(row []driver.Value) error {
				var digest string
				get(row[0], &digest)
				digests = append(digests, digest)
				return nil
			}),
			r.list("select count(*) from events not indexed", func(row []driver.Value) (err error) {
				events, err = integer(row, nil)
				return err
			}),
		)
	})
	for i := range rooms {
		events -= int64(rooms[i].last)
		found = errors.Join(found, d.checkRoom(ctx, &rooms[i]))
	}
	if found == nil && events != 0 {
		found = d.broken(fmt.Sprintf("the index of rooms and the events differ by %d events", events))
	}
	if why := d.heads.damage(); why != "" {
		found = errors.Join(found, d.broken(why))
	}
	_, short := d.checkHeads(ctx, nil)
	found = errors.Join(found, short)
	for _, digest := range digests {
		_, err := d.Blob(ctx, digest)
		found = errors.Join(found, err)
	}
	return found
}

// checkRoom verifies one room's chain and snapshot.
func (d *DB) checkRoom(ctx context.Context, t *tail) error {
	end, err := log.Verify(ctx, d, t.name, log.Mark{})
	if err == nil && end.Seq < t.last {
		err = log.Corrupt(t.name, end.Seq+1, fmt.Sprintf("event %d is missing", end.Seq+1))
	}
	if _, snapshot := d.Snapshot(ctx, t.name); errors.Is(snapshot, log.ErrCorrupt) {
		err = errors.Join(err, snapshot)
	}
	return err
}

// checkStructure has SQLite compare tables and indexes.
func (d *DB) checkStructure(r *reader) error {
	var found error
	err := r.list("pragma integrity_check(10)", func(row []driver.Value) error {
		if why, ok := row[0].(string); !ok || why != "ok" {
			found = errors.Join(found, d.broken(fmt.Sprint(row[0])))
		}
		return nil
	})
	return errors.Join(found, err)
}

// list runs a query once and calls f for each row. An error of f does not end it;
// list joins all errors.
func (c *conn) list(sql string, f func([]driver.Value) error, args ...driver.Value) error {
	s, err := c.Prepare(sql)
	if err != nil {
		return err
	}
	var found error
	err = (&statement{s}).each(func(row []driver.Value) error {
		found = errors.Join(found, f(row))
		return nil
	}, args...)
	return errors.Join(found, err, s.Close())
}
