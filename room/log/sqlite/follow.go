package sqlite

import (
	"context"
	"errors"
	"iter"
	"os"
	"time"

	"github.com/folkmoot/moot/room/log"
)

// Follow implements [log.Reader]. A room that does not exist yet is waited
// for. The sequence ends without an error when ctx ends, and with one when
// the log is closed or the room removed.
func (d *DB) Follow(ctx context.Context, name string, after log.Pos) iter.Seq2[log.Entry, error] {
	return log.FollowWith(ctx, after, func(at log.Pos) ([]log.Entry, error) { return d.next(ctx, name, at) })
}

// next returns the entries after a place. When there are none, it waits for a
// change and returns none.
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

// startPoller opens the file for reading only and starts the goroutine that
// notices what other processes append.
func (d *DB) startPoller() error {
	info, err := os.Stat(d.path)
	if err != nil {
		return d.folderError(err)
	}
	if err := d.checkFile(info); err != nil {
		return err
	}
	c, err := dialReader(d.path, true)
	if err != nil {
		return d.explain("opening log for reading", err)
	}
	if err := checkVersion(c); err != nil {
		return errors.Join(d.explain("opening log for reading", err), c.Close())
	}
	version, err := c.prepare("pragma data_version")
	if err != nil {
		return errors.Join(d.explain("opening log for reading", err), c.Close())
	}
	if _, err := d.heads.load(); err != nil {
		return errors.Join(d.folderError(err), c.Close())
	}
	go d.watch(c, version)
	return nil
}

// watch polls until the log is closed.
func (d *DB) watch(c *conn, version *statement) {
	defer close(d.done)
	ticker := time.NewTicker(d.poll)
	defer ticker.Stop()
	var seen int64
	for {
		select {
		case <-d.closing:
			d.end = c.Close()
			return
		case <-ticker.C:
		}
		if !d.news.Wanted() {
			continue
		}
		// An error shows in the read that follows.
		if v, err := integer(version.one()); err != nil || v != seen {
			seen = v
			d.news.TellAll()
		}
	}
}
