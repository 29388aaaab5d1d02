package sqlite

import (
	"context"
	"errors"
	"iter"
	"os"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

// Follow implements [log.Reader].
func (d *DB) Follow(ctx context.Context, name string, after log.Pos) iter.Seq2[log.Entry, error] {
	return d.news.Follow(ctx, name, after, rows.Source{Read: d.Read, Closing: d.closing, Closed: errClosed})
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
