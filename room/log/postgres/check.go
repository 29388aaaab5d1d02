package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/room/log"
)

// Check verifies all that is stored: the rows of rooms, the chain of every room, snapshots
// and blobs. The error joins one error for each defect. The structure of the tables is left
// to the server's own tools, such as pg_amcheck.
func (d *DB) Check(ctx context.Context) error {
	infos, found := d.Rooms(ctx)
	for _, info := range infos {
		if info.Damage != nil {
			continue
		}
		_, err := log.Verify(ctx, d, info.Room, log.Mark{})
		if _, snapshot := d.Snapshot(ctx, info.Room); errors.Is(snapshot, log.ErrCorrupt) {
			err = errors.Join(err, snapshot)
		}
		found = errors.Join(found, err)
	}
	digests, unlisted := d.Digests(ctx)
	var stray int64
	err := d.read(ctx, func(ctx context.Context) error {
		return d.pool.QueryRow(ctx, "select count(*) from moot_events e where not exists(select 1 from moot_rooms r where r.id = e.room)").Scan(&stray)
	})
	if stray > 0 {
		found = errors.Join(found, d.broken(fmt.Sprintf("%d events are of no room", stray)))
	}
	for _, digest := range digests {
		_, unread := d.Blob(ctx, digest)
		found = errors.Join(found, unread)
	}
	return errors.Join(found, unlisted, err)
}
