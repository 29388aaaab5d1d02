package coordinator

import (
	"context"
	"slices"
	"sync"
)

// A gate starts and cancels the effects of a room by their keys. Any goroutine
// may close it, which takes effect at once.
type gate struct {
	mu      sync.Mutex
	closed  int           // number of callers that hold it closed
	opened  chan struct{} // closed when the last of them opens it; nil while it is open
	running map[string]context.CancelFunc
	cut     map[string]bool // effects that a close has cancelled and that are still wanted
}

// start registers an effect and returns its context. ok is false while the
// gate is closed or the effect is running. cut says that a close has cancelled
// an earlier start.
func (g *gate) start(ctx context.Context, key string) (_ context.Context, cut, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.running[key]; ok || g.closed > 0 {
		return nil, false, false
	}
	ctx, cancel := context.WithCancel(ctx)
	if g.running == nil {
		g.running, g.cut = map[string]context.CancelFunc{}, map[string]bool{}
	}
	g.running[key] = cancel
	return ctx, g.cut[key], true
}

// end removes an effect that has ended.
func (g *gate) end(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if cancel, ok := g.running[key]; ok {
		cancel()
		delete(g.running, key)
	}
}

// keep cancels the effects that are not in wanted.
func (g *gate) keep(wanted []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for key, cancel := range g.running {
		if !slices.Contains(wanted, key) {
			cancel()
			delete(g.running, key)
		}
	}
	for key := range g.cut {
		if !slices.Contains(wanted, key) {
			delete(g.cut, key)
		}
	}
}

// close cancels all effects and starts none until every caller that closed the
// gate has opened it again.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed++; g.opened == nil {
		g.opened = make(chan struct{})
	}
	for key, cancel := range g.running {
		cancel()
		g.cut[key] = true
	}
	clear(g.running)
}

// open undoes one close.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed--; g.closed == 0 {
		close(g.opened)
		g.opened = nil
	}
}

// whenOpen returns a channel that is closed once the gate is open, or nil while it is.
func (g *gate) whenOpen() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened
}

// busy returns how many effects are running.
func (g *gate) busy() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.running)
}
