// Package memory keeps rooms in memory: for tests, simulations and replays
// that must leave no trace. It is as strict as the engines that last, and
// passes the same suite, but nothing survives the process.
package memory

import (
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A Log holds rooms. The zero Log is empty and ready. It is safe for
// concurrent use.
type Log struct {
	mu    sync.Mutex
	rooms map[string]*entries
	snaps map[string]log.Snapshot
	blobs map[string][]byte
	locks map[string]bool
	more  chan struct{} // closed and replaced at every append
}

type entries struct {
	list    []log.Entry
	ids     map[string]bool
	wake    time.Time
	updated time.Time
	bytes   int64
}

var _ log.Log = (*Log)(nil)

// Append implements [log.Appender].
func (l *Log) Append(ctx context.Context, id string, after log.Pos, wake time.Time, evs ...room.Event) (log.Pos, bool, error) {
	if err := ctx.Err(); err != nil {
		return log.Pos{}, false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.rooms[id]
	if r == nil {
		r = &entries{ids: map[string]bool{}}
	}
	if n := uint64(len(r.list)); n != after.Seq {
		last := after.Seq + uint64(len(evs))
		if len(evs) > 0 && n >= last && r.list[after.Seq].Event.ID == evs[0].ID {
			return pos(last), true, nil
		}
		return log.Pos{}, false, fmt.Errorf("appending to %q after %d, its tail is %d: %w", id, after.Seq, n, log.ErrConflict)
	}
	added, err := r.link(evs)
	if err != nil {
		return log.Pos{}, false, err
	}
	r.list = append(r.list, added...)
	for _, e := range evs {
		r.ids[e.ID] = true
	}
	r.wake, r.updated = wake, time.Now()
	if l.rooms == nil {
		l.rooms = map[string]*entries{}
	}
	l.rooms[id] = r
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
	return pos(uint64(len(r.list))), false, nil
}

func pos(seq uint64) log.Pos { return log.Pos{Seq: seq, Tok: seq} }

// link encodes evs and continues the chain.
func (r *entries) link(evs []room.Event) ([]log.Entry, error) {
	var out []log.Entry
	var prev [32]byte
	if n := len(r.list); n > 0 {
		prev = r.list[n-1].Hash
	}
	for i, e := range evs {
		if want := int64(len(r.list) + i + 1); e.Seq != want {
			return nil, fmt.Errorf("event has seq %d, its place is %d: %w", e.Seq, want, log.ErrConflict)
		}
		if r.ids[e.ID] || slices.ContainsFunc(evs[:i], func(x room.Event) bool { return x.ID == e.ID }) {
			return nil, fmt.Errorf("event id %q is taken: %w", e.ID, log.ErrConflict)
		}
		raw, err := room.MarshalEvent(e)
		if err != nil {
			return nil, err
		}
		salt := make([]byte, log.SaltSize)
		rand.Read(salt)
		c := log.Commit(salt, raw)
		prev = log.Link(prev, uint64(e.Seq), c)
		out = append(out, log.Entry{Pos: pos(uint64(e.Seq)), Event: e, Raw: raw, Salt: salt, Commit: c, Hash: prev})
		r.bytes += int64(len(raw))
	}
	return out, nil
}

// Lock implements [log.Appender] within the process.
func (l *Log) Lock(_ context.Context, id string) (func(), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.locks[id] {
		return nil, fmt.Errorf("room %q: %w", id, log.ErrLocked)
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

// Tail implements [log.Reader].
func (l *Log) Tail(_ context.Context, id string) (log.Pos, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.rooms[id]; r != nil {
		return pos(uint64(len(r.list))), nil
	}
	return log.Pos{}, nil
}

// Read implements [log.Reader].
func (l *Log) Read(ctx context.Context, id string, after log.Pos, most int) ([]log.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.rooms[id]
	if r == nil || after.Seq >= uint64(len(r.list)) || most <= 0 {
		return nil, nil
	}
	rest := r.list[after.Seq:]
	return slices.Clone(rest[:min(most, len(rest))]), nil
}

// Follow implements [log.Reader].
func (l *Log) Follow(ctx context.Context, id string, after log.Pos) iter.Seq2[log.Entry, error] {
	return func(yield func(log.Entry, error) bool) {
		for {
			more := l.waiter()
			got, err := l.Read(ctx, id, after, 1000)
			if err != nil {
				yield(log.Entry{}, err)
				return
			}
			for _, e := range got {
				if !yield(e, nil) {
					return
				}
				after = e.Pos
			}
			if len(got) > 0 {
				continue
			}
			select {
			case <-more:
			case <-ctx.Done():
				yield(log.Entry{}, ctx.Err())
				return
			}
		}
	}
}

// waiter is closed by the next append.
func (l *Log) waiter() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.more == nil {
		l.more = make(chan struct{})
	}
	return l.more
}
