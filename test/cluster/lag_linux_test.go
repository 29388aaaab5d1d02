package cluster

import (
	"context"
	"sync"
	"time"
)

// A lag measures how long this process waited for a processor. Where several programs share
// few processors, nodes and servers wait as long, and a stall says little.
type lag struct {
	mu      sync.Mutex
	longest time.Duration
}

// lagStep is the time between two measurements.
const lagStep = 20 * time.Millisecond

// run measures until ctx ends.
func (l *lag) run(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		time.Sleep(lagStep)
		late := time.Since(began) - lagStep
		l.mu.Lock()
		l.longest = max(l.longest, late)
		l.mu.Unlock()
	}
}

// reset returns the longest time since the last reset.
func (l *lag) reset() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	longest := l.longest
	l.longest = 0
	return longest
}
