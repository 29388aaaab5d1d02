package memory

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/folkmoot/moot/room/log"
)

// defaultPage is how many entries Read returns to a caller that gives no bound.
const defaultPage = 1000

// Tail implements [log.Reader].
func (l *Log) Tail(ctx context.Context, id string) (log.Pos, error) {
	if err := ctx.Err(); err != nil {
		return log.Pos{}, err
	}
	if err := l.begin(); err != nil {
		return log.Pos{}, err
	}
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
	if err := l.begin(); err != nil {
		return nil, err
	}
	defer l.mu.Unlock()
	if most <= 0 {
		most = defaultPage
	}
	r := l.rooms[id]
	if r == nil || after.Seq > uint64(len(r.list)) {
		return nil, fmt.Errorf("room %s after event %d: %w", id, after.Seq, log.ErrNotFound)
	}
	rest := r.list[after.Seq:]
	return slices.Clone(rest[:min(most, len(rest))]), nil
}

// Follow implements [log.Reader].
func (l *Log) Follow(ctx context.Context, id string, after log.Pos) iter.Seq2[log.Entry, error] {
	return log.FollowWith(ctx, after, func(at log.Pos) ([]log.Entry, error) { return l.next(ctx, id, at) })
}

// next returns what is stored after a place, and waits for a change when that
// is nothing.
func (l *Log) next(ctx context.Context, id string, after log.Pos) ([]log.Entry, error) {
	l.mu.Lock()
	if l.more == nil {
		l.more = make(chan struct{})
	}
	more := l.more
	l.mu.Unlock()
	got, err := l.Read(ctx, id, after, 0)
	if errors.Is(err, log.ErrNotFound) && after.Seq == 0 {
		err = nil
	}
	if err != nil || len(got) > 0 {
		return got, err
	}
	select {
	case <-more:
	case <-ctx.Done():
	}
	return nil, nil
}
