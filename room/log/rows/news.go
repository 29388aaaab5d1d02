package rows

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/folkmoot/moot/room/log"
)

// News wakes goroutines that wait for a room to change.
type News struct {
	mu      sync.Mutex
	waiting map[string]*Wait
}

// A Wait is shared by all goroutines that wait for one room.
type Wait struct {
	Changed chan struct{} // closed by the change
	count   int           // of the goroutines that wait
}

// Ask registers for the next change of a room. It must be called before the log
// is read, or a change in between would be missed.
func (n *News) Ask(room string) *Wait {
	n.mu.Lock()
	defer n.mu.Unlock()
	w := n.waiting[room]
	if w == nil {
		if n.waiting == nil {
			n.waiting = map[string]*Wait{}
		}
		w = &Wait{Changed: make(chan struct{})}
		n.waiting[room] = w
	}
	w.count++
	return w
}

// A Source is the log that [News.Follow] reads.
type Source struct {
	Read    func(ctx context.Context, room string, after log.Pos, most int) ([]log.Entry, error)
	Closing <-chan struct{} // closed when the log is closed
	Closed  error           // the error of Follow then
	Poll    time.Duration   // how often it reads without news; 0 is never
}

// Follow implements [log.Reader]. A room that does not exist yet is waited for. The
// sequence ends without an error when ctx ends, and with one when the log is closed or the
// room removed.
func (n *News) Follow(ctx context.Context, room string, after log.Pos, s Source) iter.Seq2[log.Entry, error] {
	return log.FollowWith(ctx, after, func(at log.Pos) ([]log.Entry, error) { return n.next(ctx, room, at, s) })
}

// next returns the entries after a place. When there are none, it waits for a change and
// returns none.
func (n *News) next(ctx context.Context, room string, after log.Pos, s Source) ([]log.Entry, error) {
	w := n.Ask(room)
	defer n.Leave(room, w)
	entries, err := s.Read(ctx, room, after, 0)
	if errors.Is(err, log.ErrNotFound) && after.Seq == 0 {
		err = nil
	}
	if err != nil || len(entries) > 0 {
		return entries, err
	}
	var poll <-chan time.Time
	if s.Poll > 0 {
		poll = time.After(s.Poll)
	}
	select {
	case <-w.Changed:
	case <-poll:
	case <-ctx.Done():
	case <-s.Closing:
		return nil, s.Closed
	}
	return nil, nil
}

// Leave undoes Ask.
func (n *News) Leave(room string, w *Wait) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if w.count--; w.count == 0 && n.waiting[room] == w {
		delete(n.waiting, room)
	}
}

// Tell wakes the goroutines that wait for one of rooms.
func (n *News) Tell(rooms []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, room := range rooms {
		if w := n.waiting[room]; w != nil {
			close(w.Changed)
			delete(n.waiting, room)
		}
	}
}

// TellAll wakes all goroutines, because the changes of another process are not
// known.
func (n *News) TellAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for room, w := range n.waiting {
		close(w.Changed)
		delete(n.waiting, room)
	}
}

// Wanted reports whether a goroutine waits.
func (n *News) Wanted() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.waiting) > 0
}

// Names returns the rooms that a goroutine waits for.
func (n *News) Names() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Collect(maps.Keys(n.waiting))
}
