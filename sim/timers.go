package sim

import (
	"container/heap"
	"time"
)

// A timer runs a function at a time. Timers of the same time run in the order in which
// they were set.
type timer struct {
	due time.Duration
	seq int
	run func()
}

// timers is a priority queue of timers; see container/heap.
type timers struct {
	list []timer
	set  int
}

func (q *timers) Len() int { return len(q.list) }

func (q *timers) Less(i, j int) bool {
	a, b := &q.list[i], &q.list[j]
	return a.due < b.due || a.due == b.due && a.seq < b.seq
}

func (q *timers) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }

// Push and Pop are for package heap.
func (q *timers) Push(x any) { q.list = append(q.list, x.(timer)) }

// Pop removes the last element.
func (q *timers) Pop() any {
	last := q.list[len(q.list)-1]
	q.list[len(q.list)-1] = timer{}
	q.list = q.list[:len(q.list)-1]
	return last
}

// after runs f when d has passed.
func (s *simulation) after(d time.Duration, f func()) {
	s.timers.set++
	heap.Push(&s.timers, timer{s.now + max(0, d), s.timers.set, f})
}

// next lets time pass until the next timer, and runs it. It reports false if there is
// none.
func (s *simulation) next() bool {
	if len(s.timers.list) == 0 {
		return false
	}
	t := heap.Pop(&s.timers).(timer)
	s.now = max(s.now, t.due)
	t.run()
	return true
}
