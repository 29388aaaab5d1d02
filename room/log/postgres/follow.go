package postgres

import (
	"context"
	"iter"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

// Follow implements [log.Reader].
func (d *DB) Follow(ctx context.Context, name string, after log.Pos) iter.Seq2[log.Entry, error] {
	return d.news.Follow(ctx, name, after, rows.Source{Read: d.Read, Closing: d.closing, Closed: errClosed})
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
