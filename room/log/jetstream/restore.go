package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

// Restore puts a whole room back as it was exported: with the salts and commitments of its
// entries, and stubs where it was redacted, so that its chain is the one it had. The chain
// is checked first; a room that exists already is [log.ErrConflict]. The room exists
// when its last message is stored: before, its messages say that it is being restored.
func (d *DB) Restore(ctx context.Context, name string, entries []log.Entry) error {
	return d.PutBack(ctx, name, entries, time.Time{}, true)
}

// PutBack is Restore with a wake time. imported says that the log was written elsewhere.
func (d *DB) PutBack(ctx context.Context, name string, entries []log.Entry, wake time.Time, imported bool) error {
	if err := log.CheckWhole(name, entries); err != nil {
		return err
	}
	for i := range entries {
		if e := &entries[i]; e.Redacted && e.Event.Body == nil {
			return fmt.Errorf("restoring event %d of room %s: it was redacted and no stub is left of it", e.Seq, name)
		}
	}
	return d.holding(ctx, name, func(ctx context.Context, r *roomState) error {
		r.forget()
		if err := d.load(ctx, r); err != nil {
			return err
		}
		if r.last.state.seq != 0 {
			return fmt.Errorf("restoring: room %s exists: %w", name, log.ErrConflict)
		}
		err := d.restore(ctx, r, entries, state{restoring: true, imported: imported, wake: rows.Nanos(wake), updated: time.Now().UnixNano()})
		if errors.Is(err, errWrongLast) {
			err = fmt.Errorf("restoring: room %s: %w", name, log.ErrConflict)
		}
		if err != nil {
			r.forget()
			return err
		}
		r.ids = nil
		d.announce(name)
		return nil
	})
}

// restore writes the entries from the state at on, and then that the room exists.
func (d *DB) restore(ctx context.Context, r *roomState, entries []log.Entry, at state) error {
	for len(entries) > 0 {
		next := record{kind: eventsKind, room: r.name, state: at, previous: at.hash}
		n := together(entries, d.most)
		for i := range entries[:n] {
			next.state.bytes += int64(len(entries[i].Raw))
		}
		next.state.seq, next.state.hash = entries[n-1].Seq, entries[n-1].Hash
		var err error
		if next.body, err = appendEntries(nil, entries[:n]); err != nil {
			return fmt.Errorf("restoring room %s: %w", r.name, err)
		}
		r.last.state = at // what parts of a large event repeat
		if err := d.write(ctx, r, &next); err != nil {
			return err
		}
		at, entries = next.state, entries[n:]
	}
	at.restoring = false
	if err := d.write(ctx, r, &record{kind: partKind, room: r.name, state: at}); err != nil {
		return err
	}
	return d.noteHead(ctx, r)
}

// together is how many entries go into one message: up to 100 that need no parts, or one.
func together(entries []log.Entry, most int) (n int) {
	size := 0
	for n < min(len(entries), 100) && size < most/2 {
		size += len(entries[n].Raw) + 1024 // a stub is smaller than that
		n++
	}
	return n
}

// Imported reports whether the room was restored. The log of such a room was written
// elsewhere, so its commands are not trusted here.
func (d *DB) Imported(ctx context.Context, name string) (bool, error) {
	ctx, done, err := d.begin(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	last, err := d.tail(ctx, name)
	return last.state.imported, err
}
