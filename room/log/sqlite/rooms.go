package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"time"

	"github.com/folkmoot/moot/room/log"
)

// Rooms implements [log.Reader], by id. A room whose row is damaged is left
// out and named by the error, which comes with the others.
func (d *DB) Rooms(ctx context.Context) ([]log.Info, error) {
	var infos []log.Info
	var damaged error
	err := d.read(ctx, func(r *reader) error {
		s, err := r.Prepare("select " + columnsOfRoom + " from rooms order by name")
		if err != nil {
			return err
		}
		defer s.Close()
		return (&statement{s}).each(func(row []driver.Value) error {
			t, err := scanTail(row)
			if err != nil {
				damaged = errors.Join(damaged, err)
				return nil
			}
			infos = append(infos, log.Info{
				Room: t.name, Last: t.last, Updated: fromNanos(t.updated), Wake: fromNanos(t.wake), Bytes: t.bytes,
			})
			return nil
		})
	})
	return infos, errors.Join(err, damaged)
}

// Due implements [log.Reader]; the room that has waited longest comes first.
func (d *DB) Due(ctx context.Context, now time.Time) ([]string, error) {
	var names []string
	err := d.read(ctx, func(r *reader) error {
		s, err := r.Prepare("select name from rooms where wake is not null and wake <= ? order by wake, name")
		if err != nil {
			return err
		}
		defer s.Close()
		return (&statement{s}).each(func(row []driver.Value) error {
			var name string
			if get(row[0], &name) {
				names = append(names, name)
			}
			return nil
		}, nanos(now))
	})
	return names, err
}
