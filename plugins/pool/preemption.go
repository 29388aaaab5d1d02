package pool

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/folkmoot/moot/plugins/wasm"
)

// The Go scheduler cannot interrupt compiled code: while it runs, its processor
// does nothing else, and a garbage collection waits for it. Fuel ends it, but
// 50 million units are tens of milliseconds, and a second for a module whose
// loads all miss the processor's cache. So after every quantum of fuel a module
// calls the host's yield check, which lets other goroutines run. The check ends
// a run whose caller is gone, and third-party code that used its processor
// time. It never changes an answer.
type preemption struct {
	ctx   context.Context // of the caller
	limit time.Duration   // of the processor; 0: unlimited
	used  time.Duration
	mark  time.Duration // of this thread's clock, when the code last went on
	wall  time.Time     // at that moment
	began time.Time
	ended error // why it was ended
}

const (
	// quantum is the fuel between two yield checks: at most a millisecond,
	// unless every load misses the cache.
	quantum = 500_000

	// yieldAfter is the time in which no other goroutine need run. A decision
	// that ends within it needs no change of threads.
	yieldAfter = time.Millisecond

	// UntrustedTime is the processor time of a run of third-party code, after
	// the first quantum that takes longer than yieldAfter.
	UntrustedTime = 90 * time.Millisecond
)

var errTime = errors.New("it took 100 ms of the processor")

// begin prepares a run with so much fuel and processor time.
func (in *instance) begin(ctx context.Context, fuel uint64, limit time.Duration) {
	in.preemption = preemption{ctx: ctx, limit: limit, began: time.Now()}
	in.fuel().Set(fuel)
	in.yieldAt().Set(fuel - min(fuel, quantum))
}

// yieldCheck is called by the module after each quantum.
func (in *instance) yieldCheck() {
	if !in.preemption.withinFirst() {
		in.memory.pages.stopCounting() // a long run must not keep its thread
		in.preemption.check()
	}
	if in.preemption.ended != nil {
		in.yieldAt().Set(wasm.StopNow)
		return
	}
	left := in.fuel().Get()
	in.yieldAt().Set(left - min(left, quantum))
}

// withinFirst reports whether the run has just begun and its caller waits.
func (p *preemption) withinFirst() bool {
	return p.wall.IsZero() && (p.ctx == nil || p.ctx.Err() == nil) && time.Since(p.began) < yieldAfter
}

// check adds up the time used, lets other goroutines run, and ends the run when
// its time is over.
func (p *preemption) check() {
	if p.ctx != nil && p.ctx.Err() != nil {
		p.ended = p.ctx.Err()
		return
	}
	if p.limit > 0 && !p.wall.IsZero() {
		// A host function may have moved the goroutine to another thread. Then
		// the thread's clock means nothing, and wall time counts.
		passed := time.Since(p.wall)
		used := threadClock() - p.mark
		if used < 0 || used > passed {
			used = passed
		}
		if p.used += used; p.used > p.limit {
			p.ended = errTime
			return
		}
	}
	runtime.Gosched()
	if p.limit > 0 {
		p.mark, p.wall = threadClock(), time.Now()
	}
}
