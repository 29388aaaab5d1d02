package coordinator

import (
	"context"
	"slices"
	"sync"
)

// A gate is what every effect passes on its way out. It can be closed from
// any goroutine, at once.
type gate struct {
	mu      sync.Mutex
	closed  int // how many hold it closed
	running map[string]context.CancelFunc
}

// start registers an effect and returns its context, or false while the gate
// is closed or the effect is under way.
func (g *gate) start(ctx context.Context, key string) (context.Context, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.running[key]; ok || g.closed > 0 {
		return nil, false
	}
	ctx, cancel := context.WithCancel(ctx)
	if g.running == nil {
		g.running = map[string]context.CancelFunc{}
	}
	g.running[key] = cancel
	return ctx, true
}

// end forgets an effect.
func (g *gate) end(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if cancel, ok := g.running[key]; ok {
		cancel()
		delete(g.running, key)
	}
}

// keep cancels the effects that are not wanted.
func (g *gate) keep(wanted []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for key, cancel := range g.running {
		if !slices.Contains(wanted, key) {
			cancel()
			delete(g.running, key)
		}
	}
}

// close cancels and forgets everything and lets nothing start until everybody
// who closed it has opened it again.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed++
	for _, cancel := range g.running {
		cancel()
	}
	clear(g.running)
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed--
}

// busy reports how many effects are under way.
func (g *gate) busy() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.running)
}
