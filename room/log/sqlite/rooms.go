package sqlite

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/folkmoot/moot/room/log"
)

// Rooms implements [log.Reader], by id. A room whose row is damaged is left
// out and named by the error, which comes with the others.
func (d *DB) Rooms(ctx context.Context) ([]log.Info, error) {
	var infos []log.Info
	err := d.read(ctx, func(r *reader) error {
		return r.list("select "+columnsOfRoom+" from rooms order by name", func(row []driver.Value) error {
			t, err := scanTail(row)
			if err != nil {
				return err
			}
			infos = append(infos, log.Info{
				Room: t.name, Last: t.last, Updated: fromNanos(t.updated), Wake: fromNanos(t.wake), Bytes: t.bytes,
			})
			return nil
		})
	})
	return infos, err
}

// Due implements [log.Reader]; the room that has waited longest comes first.
func (d *DB) Due(ctx context.Context, now time.Time) ([]string, error) {
	var names []string
	err := d.read(ctx, func(r *reader) error {
		return r.list("select name from rooms where wake is not null and wake <= ? order by wake, name", func(row []driver.Value) error {
			var name string
			if get(row[0], &name) {
				names = append(names, name)
			}
			return nil
		}, nanos(now))
	})
	return names, err
}
