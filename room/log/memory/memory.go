// Package memory keeps rooms in memory: for tests, simulations and replays
// that must leave no trace. It is as strict as the engines that last, and
// passes the same suite, but nothing survives the process.
package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A Log holds rooms. The zero Log is empty and ready. It is safe for
// concurrent use.
type Log struct {
	mu      sync.Mutex
	rooms   map[string]*entries
	snaps   map[string]log.Snapshot
	blobs   map[string][]byte
	locks   map[string]bool
	charges map[string]room.BudgetCharge // by id
	more    chan struct{}                // closed and replaced at every change
	closed  bool
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

// Rooms implements [log.Reader].
func (l *Log) Rooms(context.Context) ([]log.Info, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []log.Info
	for id, r := range l.rooms {
		out = append(out, log.Info{Room: id, Last: uint64(len(r.list)), Updated: r.updated, Wake: r.wake, Bytes: r.bytes})
	}
	slices.SortFunc(out, func(a, b log.Info) int { return strings.Compare(a.Room, b.Room) })
	return out, nil
}

// Due implements [log.Reader].
func (l *Log) Due(ctx context.Context, now time.Time) ([]string, error) {
	rooms, err := l.Rooms(ctx)
	var due []string
	for _, r := range rooms {
		if !r.Wake.IsZero() && !r.Wake.After(now) {
			due = append(due, r.Room)
		}
	}
	return due, err
}

// Snapshot implements [log.Snapshots].
func (l *Log) Snapshot(_ context.Context, id string) (log.Snapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, ok := l.snaps[id]; ok {
		return s, nil
	}
	return log.Snapshot{}, fmt.Errorf("snapshot of %q: %w", id, log.ErrNotFound)
}

// PutSnapshot implements [log.Snapshots].
func (l *Log) PutSnapshot(_ context.Context, id string, s log.Snapshot) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.rooms[id]
	if r == nil {
		return fmt.Errorf("keeping a snapshot: room %s: %w", id, log.ErrNotFound)
	}
	if s.Seq < 1 || s.Seq > uint64(len(r.list)) || r.list[s.Seq-1].Hash != s.Hash {
		return fmt.Errorf("keeping a snapshot of room %s at %d: %w", id, s.Seq, log.ErrConflict)
	}
	if l.snaps == nil {
		l.snaps = map[string]log.Snapshot{}
	}
	if s.Seq >= l.snaps[id].Seq {
		s.Data = slices.Clone(s.Data)
		l.snaps[id] = s
	}
	return nil
}

// Blob implements [log.Blobs].
func (l *Log) Blob(_ context.Context, digest string) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok := l.blobs[digest]; ok {
		return slices.Clone(b), nil
	}
	return nil, fmt.Errorf("blob %q: %w", digest, log.ErrNotFound)
}

// PutBlob implements [log.Blobs].
func (l *Log) PutBlob(_ context.Context, content []byte) (string, error) {
	digest := log.Digest(content)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.blobs == nil {
		l.blobs = map[string][]byte{}
	}
	l.blobs[digest] = slices.Clone(content)
	return digest, nil
}

// Digests implements [log.Blobs].
func (l *Log) Digests(context.Context) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.blobs)), nil
}

// Redact implements [log.Redactor].
func (l *Log) Redact(_ context.Context, id string, stubs ...room.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.rooms[id]
	for _, stub := range stubs {
		if r == nil || stub.Seq < 1 || stub.Seq > int64(len(r.list)) {
			return fmt.Errorf("redacting event %d of room %s: %w", stub.Seq, id, log.ErrNotFound)
		}
		if had := r.list[stub.Seq-1].Event.ID; had != stub.ID {
			return fmt.Errorf("redacting: event %d of room %s is %q, not %q", stub.Seq, id, had, stub.ID)
		}
	}
	for _, stub := range stubs {
		e := &r.list[stub.Seq-1]
		r.bytes -= int64(len(e.Raw))
		e.Event, e.Raw, e.Salt, e.Redacted = stub, nil, nil, true
	}
	delete(l.snaps, id)
	return nil
}

// Remove implements [log.Redactor].
func (l *Log) Remove(_ context.Context, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.rooms[id]; !ok {
		return fmt.Errorf("removing: room %s: %w", id, log.ErrNotFound)
	}
	delete(l.rooms, id)
	delete(l.snaps, id)
	l.changed()
	return nil
}
