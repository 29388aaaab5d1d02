package jetstream

import (
	"context"
	"errors"
	"os"

	"github.com/folkmoot/moot/room/log"
)

// Check verifies the whole log: the chain and the head of every room, snapshots and blobs. The error
// joins one error for each defect.
func (d *DB) Check(ctx context.Context) error {
	rooms, err := d.Rooms(ctx)
	if rooms == nil && err != nil {
		return err
	}
	var found error
	for _, r := range rooms {
		_, err := log.Verify(ctx, d, r.Room, log.Mark{})
		if _, snapshot := d.Snapshot(ctx, r.Room); errors.Is(snapshot, log.ErrCorrupt) {
			err = errors.Join(err, snapshot)
		}
		found = errors.Join(found, err)
	}
	digests, err := d.Digests(ctx)
	found = errors.Join(found, err)
	for _, digest := range digests {
		_, err := d.Blob(ctx, digest)
		found = errors.Join(found, err)
	}
	return found
}

// Holder returns the id of the process of this machine that holds room, and 0 when none
// does, or a process of another machine. The answer may be old when it comes: it is for
// people to read.
func (d *DB) Holder(name string) int {
	ctx, done, err := d.begin(d.life)
	if err != nil {
		return 0
	}
	defer done()
	lock, _, err := d.readLock(ctx, name)
	if err != nil || lock.Holder == "" {
		return 0
	}
	row, alive, err := d.alive(ctx, lock.Holder)
	if err != nil || !alive {
		return 0
	}
	if host, err := os.Hostname(); err != nil || host != row.Host {
		return 0
	}
	return row.PID
}
