package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

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
