package coordinator

import "sync"

// A workerPool runs functions outside the loop. An idle worker waits for the
// next function, so that a turn starts no goroutine and grows no stack. The
// pool has as many workers as functions have run at the same time.
type workerPool struct {
	runs    chan func()
	quit    <-chan struct{} // closed when idle workers may end
	workers sync.WaitGroup  // to wait for once quit is closed
}

// Go runs f at once in a goroutine of the pool.
func (p *workerPool) Go(f func()) {
	select {
	case p.runs <- f:
	default:
		p.workers.Go(func() {
			for {
				f()
				select {
				case f = <-p.runs:
				case <-p.quit:
					return
				}
			}
		})
	}
}
