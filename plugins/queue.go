package plugins

import (
	"context"
	"errors"
	"sync"
)

// A queue bounds the number of decisions that run at once. It is a round-robin
// queue by room: a free place goes to the next waiting room. So a room with many
// requests delays another by at most one decision.
type queue struct {
	mu      sync.Mutex
	places  int
	free    int
	rooms   []*roomQueue // that wait, the next one first
	closing bool
	empty   chan struct{} // closed when closing and no decision runs
}

// A roomQueue has the waiting calls of one room, oldest first.
type roomQueue struct {
	room  string
	calls []chan error
}

var errClosing = errors.New("the sandbox is closed")

func newQueue(n int) *queue { return &queue{places: n, free: n, empty: make(chan struct{})} }

// close refuses all further calls, waiting ones included, and returns when no
// decision runs any more.
func (q *queue) close() {
	q.mu.Lock()
	if !q.closing {
		q.closing = true
		for _, l := range q.rooms {
			for _, turn := range l.calls {
				turn <- errClosing
			}
		}
		q.rooms = nil
		if q.free == q.places {
			close(q.empty)
		}
	}
	q.mu.Unlock()
	<-q.empty
}

// enter waits for a place. The caller must call leave, unless there is an error:
// ctx's or errClosing.
func (q *queue) enter(ctx context.Context, room string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q.mu.Lock()
	if q.closing {
		q.mu.Unlock()
		return errClosing
	}
	if q.free > 0 && len(q.rooms) == 0 {
		q.free--
		q.mu.Unlock()
		return nil
	}
	turn := make(chan error, 1) // nil: a place
	q.add(room, turn)
	q.mu.Unlock()
	select {
	case err := <-turn:
		return err
	case <-ctx.Done():
		if !q.remove(room, turn) && <-turn == nil {
			q.leave() // the place was given at the same moment
		}
		return ctx.Err()
	}
}

func (q *queue) add(room string, turn chan error) {
	for _, l := range q.rooms {
		if l.room == room {
			l.calls = append(l.calls, turn)
			return
		}
	}
	q.rooms = append(q.rooms, &roomQueue{room, []chan error{turn}})
}

// remove removes a waiting call. It reports whether it was still waiting.
func (q *queue) remove(room string, turn chan error) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, l := range q.rooms {
		if l.room != room {
			continue
		}
		for j, c := range l.calls {
			if c == turn {
				l.calls = append(l.calls[:j], l.calls[j+1:]...)
				if len(l.calls) == 0 {
					q.rooms = append(q.rooms[:i], q.rooms[i+1:]...)
				}
				return true
			}
		}
	}
	return false
}

// leave gives the place to the next room, or frees it.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.rooms) == 0 {
		q.free++
		if q.closing && q.free == q.places {
			close(q.empty)
		}
		return
	}
	l := q.rooms[0]
	q.rooms = q.rooms[1:]
	l.calls[0] <- nil
	if l.calls = l.calls[1:]; len(l.calls) > 0 {
		q.rooms = append(q.rooms, l)
	}
}
