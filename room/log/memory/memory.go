// Package memory keeps rooms in memory: for tests, simulations and replays
// that must leave no trace. It is as strict as the engines that last, and
// passes the same suite, but nothing survives the process.
package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A Log holds rooms. The zero Log is empty and ready. It is safe for
// concurrent use.
type Log struct {
	mu     sync.Mutex
	rooms  map[string]*entries
	snaps  map[string]log.Snapshot
	blobs  map[string][]byte
	locks  map[string]bool
	more   chan struct{} // closed and replaced at every change
	closed bool
}

type entries struct {
	list    []log.Entry
	ids     map[string]bool
	wake    time.Time
	updated time.Time
	bytes   int64
}

var _ log.Log = (*Log)(nil)

var errClosed = fmt.Errorf("the log is closed: %w", log.ErrFailed)

// begin takes the lock of an open log, for the caller to give back.
func (l *Log) begin() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return errClosed
	}
	return nil
}

// Append implements [log.Appender].
func (l *Log) Append(ctx context.Context, id string, after log.Pos, wake time.Time, evs ...room.Event) (log.Pos, bool, error) {
	if err := log.CheckName(id); err != nil {
		return log.Pos{}, false, err
	}
	if len(evs) == 0 {
		return log.Pos{}, false, errors.New("appending: no events")
	}
	if err := ctx.Err(); err != nil {
		return log.Pos{}, false, fmt.Errorf("appending: %w: %w", log.ErrUnknown, err)
	}
	added, err := log.Seal(after.Seq, evs)
	if err != nil {
		return log.Pos{}, false, fmt.Errorf("appending to room %s: %w", id, err)
	}
	if err := l.begin(); err != nil {
		return log.Pos{}, false, err
	}
	defer l.mu.Unlock()
	r := l.rooms[id]
	if r == nil {
		r = &entries{ids: map[string]bool{}}
	}
	last := pos(after.Seq + uint64(len(evs)))
	if n := uint64(len(r.list)); n != after.Seq {
		if r.has(added) {
			return last, true, nil
		}
		return log.Pos{}, false, fmt.Errorf("appending to room %s after event %d, which ends at %d: %w", id, after.Seq, n, log.ErrConflict)
	}
	if err := r.link(added); err != nil {
		return log.Pos{}, false, fmt.Errorf("appending to room %s: %w", id, err)
	}
	r.wake, r.updated = wake, time.Now()
	if l.rooms == nil {
		l.rooms = map[string]*entries{}
	}
	l.rooms[id] = r
	l.changed()
	return last, false, nil
}

func pos(seq uint64) log.Pos { return log.Pos{Seq: seq, Tok: seq} }

// has reports whether the entries of a retry are stored at their places. Of a
// redacted entry only the id can be compared.
func (r *entries) has(retried []log.Entry) bool {
	for i := range retried {
		e := &retried[i]
		if e.Seq > uint64(len(r.list)) {
			return false
		}
		stored := &r.list[e.Seq-1]
		if stored.Event.ID != e.Event.ID || !stored.Redacted && !bytes.Equal(stored.Raw, e.Raw) {
			return false
		}
	}
	return true
}

// link continues the chain, with all of added or none.
func (r *entries) link(added []log.Entry) error {
	fresh := map[string]bool{}
	for i := range added {
		id := added[i].Event.ID
		if r.ids[id] || fresh[id] {
			return fmt.Errorf("event id %q is at another place: %w", id, log.ErrConflict)
		}
		fresh[id] = true
	}
	var previous [32]byte
	if n := len(r.list); n > 0 {
		previous = r.list[n-1].Hash
	}
	for i := range added {
		e := &added[i]
		e.Pos, e.Hash = pos(e.Seq), log.Link(previous, e.Seq, e.Commit)
		e.Event.At = e.Event.At.UTC()
		previous = e.Hash
		r.ids[e.Event.ID] = true
		r.bytes += int64(len(e.Raw))
	}
	r.list = append(r.list, added...)
	return nil
}

// changed wakes the followers.
func (l *Log) changed() {
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
}

// Lock implements [log.Appender] within the process.
func (l *Log) Lock(ctx context.Context, id string) (func(), error) {
	if err := errors.Join(ctx.Err(), log.CheckName(id)); err != nil {
		return nil, err
	}
	if err := l.begin(); err != nil {
		return nil, err
	}
	defer l.mu.Unlock()
	if l.locks[id] {
		return nil, fmt.Errorf("room %s: %w", id, log.ErrLocked)
	}
	if l.locks == nil {
		l.locks = map[string]bool{}
	}
	l.locks[id] = true
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.locks, id)
	}), nil
}

// Close ends every Follow. Later calls return an error.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.changed()
	return nil
}
