package plugins

import (
	"container/heap"
	"context"
	"errors"
	"sync"
	"time"
)

// A queue bounds the number of decisions that run at once. It shares the
// processor fairly among rooms, by the time that their decisions use: weighted
// fair queueing with equal weights. Each room has a virtual time, the time that
// it used. The next decision is that of the room whose virtual time would be the
// least after it, by the time that the decision is expected to take. A room that
// comes back starts at the virtual time of the queue, the one at which the newest
// decision started (start-time fair queueing: Goyal, Vin and Cheng, SIGCOMM 1996).
// So a room with short decisions waits for the decisions that run, and not for
// those of every other room.
type queue struct {
	mu      sync.Mutex
	places  int
	free    int           // 0 while a room waits
	now     time.Duration // virtual time
	rooms   map[string]*roomQueue
	waiting waitingRooms
	arrived uint64 // calls that have waited
	sweepAt int    // number of rooms at which those that are as new are forgotten
	closing bool
	empty   chan struct{} // closed when closing and no decision runs
}

// A roomQueue has the waiting calls of one room, oldest first.
type roomQueue struct {
	name    string
	used    time.Duration // virtual time of the room
	calls   []*queueCall
	running int
	index   int // in the heap of waiting rooms
}

// A queueCall waits for a place.
type queueCall struct {
	expected time.Duration
	order    uint64     // of arrival
	ready    chan error // nil: it has a place
}

// A place is the right to make a decision.
type place struct {
	queue    *queue
	room     *roomQueue
	expected time.Duration
}

var errClosing = errors.New("the sandbox is closed")

// minSweep is the number of rooms that are always remembered.
const minSweep = 256

func newQueue(n int) *queue {
	return &queue{places: n, free: n, rooms: map[string]*roomQueue{}, sweepAt: minSweep, empty: make(chan struct{})}
}

// close refuses all further calls, waiting ones included, and returns when no
// decision runs any more.
func (q *queue) close() {
	q.mu.Lock()
	if !q.closing {
		q.closing = true
		for _, r := range q.waiting {
			for _, c := range r.calls {
				c.ready <- errClosing
			}
			r.calls = nil
		}
		q.waiting = nil
		if q.free == q.places {
			close(q.empty)
		}
	}
	q.mu.Unlock()
	<-q.empty
}

// enter waits for a place for a decision that is expected to use so much
// processor time. The caller must call leave, unless there is an error: ctx's or
// errClosing.
func (q *queue) enter(ctx context.Context, room string, expected time.Duration) (place, error) {
	if err := ctx.Err(); err != nil {
		return place{}, err
	}
	q.mu.Lock()
	if q.closing {
		q.mu.Unlock()
		return place{}, errClosing
	}
	r := q.room(room)
	if q.free > 0 {
		q.start(r, expected)
		q.mu.Unlock()
		return place{q, r, expected}, nil
	}
	q.arrived++
	c := &queueCall{expected, q.arrived, make(chan error, 1)}
	if r.calls = append(r.calls, c); len(r.calls) == 1 {
		heap.Push(&q.waiting, r)
	}
	q.mu.Unlock()
	select {
	case err := <-c.ready:
		return place{q, r, expected}, err
	case <-ctx.Done():
		if !q.remove(r, c) && <-c.ready == nil {
			place{q, r, expected}.leave(0) // the place was given at the same moment
		}
		return place{}, ctx.Err()
	}
}

// hasPlace reports whether a decision would start at once.
func (q *queue) hasPlace() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.free > 0 && !q.closing
}

// room returns the queue of a room. A room without calls starts at the present.
func (q *queue) room(name string) *roomQueue {
	r := q.rooms[name]
	if r == nil {
		q.sweep()
		r = &roomQueue{name: name}
		q.rooms[name] = r
	}
	if len(r.calls) == 0 {
		r.used = max(r.used, q.now)
	}
	return r
}

// sweep forgets idle rooms whose virtual time has passed, now and then. They
// would start at the present anyway.
func (q *queue) sweep() {
	if len(q.rooms) < q.sweepAt {
		return
	}
	for name, r := range q.rooms {
		if r.running == 0 && len(r.calls) == 0 && r.used <= q.now {
			delete(q.rooms, name)
		}
	}
	q.sweepAt = max(minSweep, 2*len(q.rooms))
}

// start gives a room a place. Until the decision has ended, the room is charged
// the expected time.
func (q *queue) start(r *roomQueue, expected time.Duration) {
	q.free--
	q.now = max(q.now, r.used)
	r.used += expected
	r.running++
}

// remove removes a waiting call. It reports whether it was still waiting.
func (q *queue) remove(r *roomQueue, c *queueCall) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range r.calls {
		if r.calls[i] == c {
			r.calls = append(r.calls[:i], r.calls[i+1:]...)
			q.reorder(r)
			return true
		}
	}
	return false
}

// reorder restores the order of the waiting rooms after a change of one of them.
func (q *queue) reorder(r *roomQueue) {
	if len(r.calls) > 0 {
		heap.Fix(&q.waiting, r.index)
	} else {
		heap.Remove(&q.waiting, r.index)
	}
}

// leave charges the room for what the decision used, and gives the place to the
// next room, or frees it.
func (p place) leave(used time.Duration) {
	q := p.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free++
	p.room.running--
	p.room.used += used - p.expected
	if len(p.room.calls) > 0 {
		q.reorder(p.room)
	}
	if len(q.waiting) > 0 {
		r := q.waiting[0]
		c := r.calls[0]
		q.start(r, c.expected)
		r.calls = r.calls[1:]
		q.reorder(r)
		c.ready <- nil
		return
	}
	if q.free == q.places { // all start as equals again
		clear(q.rooms)
		q.now = 0
		if q.closing {
			close(q.empty)
		}
	}
}

// waitingRooms is a heap of the rooms that wait.
type waitingRooms []*roomQueue

func (w waitingRooms) Len() int { return len(w) }

func (w waitingRooms) Less(i, j int) bool {
	a, b := w[i].calls[0], w[j].calls[0]
	if x, y := w[i].used+a.expected, w[j].used+b.expected; x != y {
		return x < y
	}
	return a.order < b.order
}

func (w waitingRooms) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].index, w[j].index = i, j
}

// Push implements [heap.Interface].
func (w *waitingRooms) Push(x any) {
	r := x.(*roomQueue)
	r.index = len(*w)
	*w = append(*w, r)
}

// Pop implements [heap.Interface].
func (w *waitingRooms) Pop() any {
	last := len(*w) - 1
	r := (*w)[last]
	*w = (*w)[:last]
	return r
}
