package coordinator

import (
	"context"
	"slices"
	"sync"
)

// A gate starts and cancels the effects of a room by their keys. Any goroutine
// may close it, which takes effect at once, also for the child rooms of its calls.
//
// The lock of a gate is taken before those of the gates below it.
type gate struct {
	mu      sync.Mutex
	closed  int           // number of callers that hold it closed
	held    bool          // the gate above holds it closed; see hold
	opened  chan struct{} // closed when the last of them opens it; nil while it is open
	running map[string]*running
	cut     map[string]bool // effects that a close has cancelled and that are still wanted
}

// A running effect.
type running struct {
	cancel context.CancelFunc
	below  *gate // of the child room that the effect runs, or nil
}

// stop cancels the effect and all that runs below it.
func (e *running) stop() {
	e.cancel()
	if e.below != nil {
		e.below.hold()
	}
}

// start registers an effect and returns its context. ok is false while the
// gate is closed or the effect is running. cut says that a close has cancelled
// an earlier start.
func (g *gate) start(ctx context.Context, key string) (_ context.Context, cut, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.running[key]; ok || g.closed > 0 || g.held {
		return nil, false, false
	}
	ctx, cancel := context.WithCancel(ctx)
	if g.running == nil {
		g.running, g.cut = map[string]*running{}, map[string]bool{}
	}
	g.running[key] = &running{cancel: cancel}
	return ctx, g.cut[key], true
}

// end removes an effect that has ended.
func (g *gate) end(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e, ok := g.running[key]; ok {
		e.cancel()
		delete(g.running, key)
	}
}

// keep cancels the effects that are not in wanted.
func (g *gate) keep(wanted []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for key, e := range g.running {
		if !slices.Contains(wanted, key) {
			e.stop()
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
	g.closed++
	g.stop()
}

// open undoes one close.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed--
	g.tellOpen()
}

// hold closes the gate of a child room with the gate of its caller's room. A second hold
// changes nothing.
func (g *gate) hold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = true
	g.stop()
}

// release undoes hold.
func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = false
	g.tellOpen()
}

// lead releases the gate below for an effect, and holds it when the effect is stopped. It
// reports false, and changes nothing, if the effect with that context was stopped before.
func (g *gate) lead(ctx context.Context, key string, below *gate) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	e, ok := g.running[key]
	if !ok || ctx.Err() != nil { // an effect is cancelled with the lock held
		return false
	}
	e.below = below
	below.release()
	return true
}

// stop cancels all effects of a gate that is closed. The caller holds mu.
func (g *gate) stop() {
	if g.opened == nil {
		g.opened = make(chan struct{})
	}
	for key, e := range g.running {
		e.stop()
		g.cut[key] = true
	}
	clear(g.running)
}

// tellOpen tells that nothing holds the gate closed. The caller holds mu.
func (g *gate) tellOpen() {
	if g.closed == 0 && !g.held && g.opened != nil {
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
