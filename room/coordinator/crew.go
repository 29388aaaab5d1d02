package coordinator

import "sync"

// A crew runs what must not hold up the loop. A hand that is done waits for
// the next piece of work, so a turn starts no goroutine and grows no stack.
// There are as many hands as there was ever work at the same time.
type crew struct {
	work  chan func()
	quit  <-chan struct{} // closed when idle hands may go
	hands sync.WaitGroup
}

// Go runs f at once, beside the caller.
func (c *crew) Go(f func()) {
	select {
	case c.work <- f:
	default:
		c.hands.Go(func() { c.toil(f) })
	}
}

func (c *crew) toil(f func()) {
	for {
		f()
		select {
		case f = <-c.work:
		case <-c.quit:
			return
		}
	}
}

// Wait returns when all work is done; quit must be closed before.
func (c *crew) Wait() { c.hands.Wait() }
