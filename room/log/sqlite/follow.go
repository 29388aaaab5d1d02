package sqlite

import (
	"context"
	"errors"
	"iter"
	"os"
	"sync"
	"time"

	"github.com/folkmoot/moot/room/log"
)

// news wakes goroutines that wait for a room to change.
type news struct {
	mu      sync.Mutex
	waiting map[string]*wait
}

// A wait is shared by all goroutines that wait for one room.
type wait struct {
	changed chan struct{} // closed by the change
	count   int           // of the goroutines that wait
}

// ask registers for the next change of a room. It must be called before the log
// is read, or a change in between would be missed.
func (n *news) ask(room string) *wait {
	n.mu.Lock()
	defer n.mu.Unlock()
	w := n.waiting[room]
	if w == nil {
		if n.waiting == nil {
			n.waiting = map[string]*wait{}
		}
		w = &wait{changed: make(chan struct{})}
		n.waiting[room] = w
	}
	w.count++
	return w
}

// leave undoes ask.
func (n *news) leave(room string, w *wait) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if w.count--; w.count == 0 && n.waiting[room] == w {
		delete(n.waiting, room)
	}
}

// tell wakes the goroutines that wait for one of rooms.
func (n *news) tell(rooms []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, room := range rooms {
		if w := n.waiting[room]; w != nil {
			close(w.changed)
			delete(n.waiting, room)
		}
	}
}

// tellAll wakes all goroutines, because the changes of another process are not
// known.
func (n *news) tellAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for room, w := range n.waiting {
		close(w.changed)
		delete(n.waiting, room)
	}
}

// wanted reports whether a goroutine waits.
func (n *news) wanted() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.waiting) > 0
}

// Follow implements [log.Reader]. A room that does not exist yet is waited
// for. The sequence ends without an error when ctx ends, and with one when
// the log is closed or the room removed.
func (d *DB) Follow(ctx context.Context, name string, after log.Pos) iter.Seq2[log.Entry, error] {
	return log.FollowWith(ctx, after, func(at log.Pos) ([]log.Entry, error) { return d.next(ctx, name, at) })
}

// next returns the entries after a place. When there are none, it waits for a
// change and returns none.
func (d *DB) next(ctx context.Context, name string, after log.Pos) ([]log.Entry, error) {
	w := d.news.ask(name)
	defer d.news.leave(name, w)
	entries, err := d.Read(ctx, name, after, 0)
	if errors.Is(err, log.ErrNotFound) && after.Seq == 0 {
		err = nil
	}
	if err != nil || len(entries) > 0 {
		return entries, err
	}
	select {
	case <-w.changed:
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
		if !d.news.wanted() {
			continue
		}
		// An error shows in the read that follows.
		if v, err := integer(version.one()); err != nil || v != seen {
			seen = v
			d.news.tellAll()
		}
	}
}
