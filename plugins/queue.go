package plugins

import (
	"context"
	"sync"
)

// A queue lets a bounded number of decisions run at once and is fair by room:
// free places go round the rooms that wait, one each, so that a room that
// asks for much delays nobody by more than one decision.
type queue struct {
	mu    sync.Mutex
	free  int
	rooms []*line // those that wait, next one first
}

// A line holds the calls of one room that wait, oldest first.
type line struct {
	room  string
	calls []chan struct{}
}

func newQueue(n int) *queue { return &queue{free: n} }

// enter waits for a place. The caller must leave unless it gets an error,
// which is ctx's.
func (q *queue) enter(ctx context.Context, room string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q.mu.Lock()
	if q.free > 0 && len(q.rooms) == 0 {
		q.free--
		q.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	q.add(room, turn)
	q.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		if !q.remove(room, turn) {
			q.leave() // the place came at the same moment
		}
		return ctx.Err()
	}
}

func (q *queue) add(room string, turn chan struct{}) {
	for _, l := range q.rooms {
		if l.room == room {
			l.calls = append(l.calls, turn)
			return
		}
	}
	q.rooms = append(q.rooms, &line{room, []chan struct{}{turn}})
}

// remove reports whether turn was still waiting.
func (q *queue) remove(room string, turn chan struct{}) bool {
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

// leave gives the place to the next room, or back.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.rooms) == 0 {
		q.free++
		return
	}
	l := q.rooms[0]
	q.rooms = q.rooms[1:]
	close(l.calls[0])
	if l.calls = l.calls[1:]; len(l.calls) > 0 {
		q.rooms = append(q.rooms, l)
	}
}
