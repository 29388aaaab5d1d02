package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/room/log"
)

// defaultPage is how many entries Read returns to a caller that gives no bound.
const defaultPage = 1000

// Tail implements [log.Reader]. The tail of a room that does not exist is the
// zero Pos. The last event is looked at, so that a log which lost its end is
// found out here.
func (d *DB) Tail(ctx context.Context, name string) (log.Pos, error) {
	var p log.Pos
	err := d.read(ctx, func(r *reader) error {
		t, err := r.room(name)
		if err != nil {
			if errors.Is(err, log.ErrNotFound) {
				return nil
			}
			return err
		}
		if err := r.checkEnd(&t); err != nil {
			return err
		}
		p = log.Pos{Seq: t.last, Tok: t.last}
		return nil
	})
	return p, err
}

// checkEnd checks that the last event is the one that the index names.
func (r *reader) checkEnd(t *tail) error {
	hash, err := r.hash(t, t.last)
	if err != nil {
		return err
	}
	if hash != t.hash {
		return log.Corrupt(t.name, t.last, "it is not the event that the index names as the last")
	}
	return nil
}

// Read implements [log.Reader]. A page of 0 is 1,000 entries. It is
// [log.ErrNotFound] to read a room that does not exist, or from a place after
// its tail.
func (d *DB) Read(ctx context.Context, name string, after log.Pos, page int) ([]log.Entry, error) {
	if page <= 0 {
		page = defaultPage
	}
	var entries []log.Entry
	var previous [32]byte
	err := d.read(ctx, func(r *reader) (err error) {
		t, err := r.room(name)
		if err != nil {
			return err
		}
		if after.Seq > t.last {
			return fmt.Errorf("room %s ends at event %d, before %d: %w", name, t.last, after.Seq, log.ErrNotFound)
		}
		if previous, err = r.hash(&t, after.Seq); err != nil {
			return err
		}
		entries, err = r.scan(&t, after.Seq, page)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := open(name, after.Seq, previous, entries); err != nil {
		return nil, err
	}
	return entries, nil
}
