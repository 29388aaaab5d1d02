package jetstream

import (
	"context"
	"time"
)

// PlaceOf returns the stream of a room.
func (d *DB) PlaceOf(room string) string {
	stream, _ := d.place(room)
	return stream
}

// Freeze stops the renewal of the handle's lease until thaw is called, as if the process
// were stopped.
func (d *DB) Freeze() (thaw func()) {
	d.node.renewals.Stop()
	return func() { d.node.renewals.Reset(d.lease / 3) }
}

// ForgetMembers removes the leases that were stored longer ago than kept.
func (d *DB) ForgetMembers(ctx context.Context, kept time.Duration) error {
	return d.forgetMembers(ctx, kept)
}

// ErrNoAnswer is of requests whose outcome is open.
var ErrNoAnswer = errNoAnswer

// Publish stores a message if the last one of its subject has the number expected.
func (d *DB) Publish(ctx context.Context, subject string, expected uint64) (uint64, error) {
	return d.publish(ctx, subject, []byte("content"), expected)
}
