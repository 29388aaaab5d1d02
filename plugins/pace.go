package plugins

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/folkmoot/moot/plugins/wasm"
)

// Compiled code cannot be interrupted: while it runs, its processor does
// nothing else, and a garbage collection makes everybody wait for it. Fuel
// ends it, but 50 million units are tens of milliseconds, and a second for a
// module that misses the cache at every load. So after every slice of fuel a
// module asks its pace, which lets other goroutines run, and ends a stranger's
// code when it has had its time of the processor, or anybody's when its caller
// has gone. Only a decision that fails is ended so; none gets another answer.
type pace struct {
	ctx   context.Context // of the caller
	most  time.Duration   // of the processor; 0: no bound
	used  time.Duration
	mark  time.Duration // of this thread's clock, when the code went on
	wall  time.Time     // then
	began time.Time
	ended error // why it was ended
}

const (
	// slice is the fuel between two looks: a millisecond at most, unless
	// every load misses the cache.
	slice = 500_000

	// patience is for how long nobody else need run: a decision that ends
	// within it goes without a change of threads.
	patience = time.Millisecond

	// strangersTime is what third-party code may have of the processor, after
	// the first slice that outlasts patience.
	strangersTime = 90 * time.Millisecond
)

var errTime = errors.New("it took 100 ms of the processor")

// begin prepares for a run with so much fuel.
func (in *instance) begin(ctx context.Context, fuel uint64, most time.Duration) {
	in.pace = pace{ctx: ctx, most: most, began: time.Now()}
	in.fuel().Set(fuel)
	in.stop().Set(fuel - min(fuel, slice))
}

// pause is what the module calls between slices.
func (in *instance) pause() {
	if !in.pace.early() {
		in.memory.pages.unwatch() // a long one: others shall not wait for the thread
		in.pace.look()
	}
	if in.pace.ended != nil {
		in.stop().Set(wasm.StopNow)
		return
	}
	left := in.fuel().Get()
	in.stop().Set(left - min(left, slice))
}

// early reports whether the run has hardly begun, and its caller waits.
func (p *pace) early() bool {
	return p.wall.IsZero() && (p.ctx == nil || p.ctx.Err() == nil) && time.Since(p.began) < patience
}

// look takes stock, lets others run, and says whether the time is over.
func (p *pace) look() {
	if p.ctx != nil && p.ctx.Err() != nil {
		p.ended = p.ctx.Err()
		return
	}
	if p.most > 0 && !p.wall.IsZero() {
		// A host function may have gone on in another thread, whose clock says
		// nothing; then the time that went by counts.
		passed := time.Since(p.wall)
		used := threadClock() - p.mark
		if used < 0 || used > passed {
			used = passed
		}
		if p.used += used; p.used > p.most {
			p.ended = errTime
			return
		}
	}
	runtime.Gosched()
	if p.most > 0 {
		p.mark, p.wall = threadClock(), time.Now()
	}
}
