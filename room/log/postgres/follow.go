package postgres

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/folkmoot/moot/room/log"
)

// Follow implements [log.Reader]. A room that does not exist yet is waited for. The
// sequence ends without an error when ctx ends, and with one when the log is closed or the
// room removed.
func (d *DB) Follow(ctx context.Context, name string, after log.Pos) iter.Seq2[log.Entry, error] {
	return log.FollowWith(ctx, after, func(at log.Pos) ([]log.Entry, error) { return d.next(ctx, name, at) })
}

// next returns the entries after a place. When there are none, it waits for a change and
// returns none.
func (d *DB) next(ctx context.Context, name string, after log.Pos) ([]log.Entry, error) {
	w := d.news.Ask(name)
	defer d.news.Leave(name, w)
	entries, err := d.Read(ctx, name, after, 0)
	if errors.Is(err, log.ErrNotFound) && after.Seq == 0 {
		err = nil
	}
	if err != nil || len(entries) > 0 {
		return entries, err
	}
	select {
	case <-w.Changed:
	case <-ctx.Done():
	case <-d.closing:
		return nil, errClosed
	}
	return nil, nil
}

// watch polls for what other processes append to rooms that are followed, until the log is
// closed.
func (d *DB) watch() {
	ticker := time.NewTicker(d.poll)
	defer ticker.Stop()
	seen := map[string]int64{}
	for {
		select {
		case <-d.closing:
			return
		case <-ticker.C:
		}
		if names := d.news.Names(); len(names) > 0 {
			seen = d.changes(names, seen)
		}
	}
}

// changes wakes those that follow one of names where its last event is not the one of the
// poll before, and returns what there is now. A room that does not exist ends at 0.
func (d *DB) changes(names []string, before map[string]int64) map[string]int64 {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	now := make(map[string]int64, len(names))
	for _, name := range names {
		now[name] = 0
	}
	found, err := d.pool.Query(ctx, "select name, last from moot_rooms where name = any($1)", names)
	if err != nil {
		return before // an error shows in the next read
	}
	defer found.Close()
	for found.Next() {
		var name string
		var last int64
		if err := found.Scan(&name, &last); err != nil {
			return before
		}
		now[name] = last
	}
	if found.Err() != nil {
		return before
	}
	var changed []string
	for name, last := range now {
		if was, polled := before[name]; !polled || was != last {
			changed = append(changed, name)
		}
	}
	d.news.Tell(changed)
	return now
}
