package coordinator

import (
	"sync"
	"sync/atomic"
)

// A workerPool runs functions outside the loop. An idle worker waits for the
// next function, so that a turn starts no goroutine and grows no stack. One worker at
// most is idle for long: rooms begin with more functions at the same time, such as the
// starts of all agents, than they ever have again.
type workerPool struct {
	runs    chan func()
	quit    <-chan struct{} // closed when idle workers may end
	workers sync.WaitGroup  // to wait for once quit is closed
	idle    atomic.Int32
}

// Go runs f at once in a goroutine of the pool.
func (p *workerPool) Go(f func()) {
	select {
	case p.runs <- f:
	default:
		p.workers.Go(func() {
			for more := true; more; {
				f()
				f, more = p.next()
			}
		})
	}
}

// next waits for a function. It returns false when the worker is to end.
func (p *workerPool) next() (f func(), more bool) {
	defer p.idle.Add(-1)
	if p.idle.Add(1) > 1 {
		return nil, false
	}
	select {
	case f = <-p.runs:
		return f, true
	case <-p.quit:
		return nil, false
	}
}
