package coordinator

import (
	"sync"
)

// A workerPool runs what must not hold up the loop. A hand that is done waits for
// the next piece of work, so a turn starts no goroutine and grows no stack.
// There are as many hands as there was ever work at the same time.
type workerPool struct {
	runs    chan func()
	quit    <-chan struct{} // closed when idle hands may go
	workers sync.WaitGroup
}

// Go runs f at once, beside the caller.
func (c *workerPool) Go(f func()) {
	select {
	case c.runs <- f:
	default:
		c.workers.Go(func() { c.worker(f) })
	}
}

func (c *workerPool) worker(f func()) {
	for {
		f()
		select {
		case f = <-c.runs:
		case <-c.quit:
			return
		}
	}
}

// Wait returns when all work is done; quit must be closed before.
func (c *workerPool) Wait() { c.workers.Wait() }
