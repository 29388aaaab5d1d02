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
// calls the host's yield check, which lets other goroutines run once a
// millisecond. The check ends a run whose caller is gone, and third-party code
// that used its processor time. It never changes an answer.
type preemption struct {
	ctx   context.Context // of the caller
	limit time.Duration   // of the processor; 0: unlimited
	watch stopwatch       // of the run
	ended error           // why it was ended
}

const (
	// quantum is the fuel between two yield checks: a fraction of a millisecond,
	// and a few milliseconds for code that is slow for its fuel.
	quantum = 100_000

	// yieldAfter is the time in which no other goroutine need run. A decision
	// that ends within it needs no change of threads.
	yieldAfter = time.Millisecond

	// UntrustedTime is the processor time of a run of third-party code. The rest
	// of 100 ms is for the last quantum, and for freeing the instance.
	UntrustedTime = 80 * time.Millisecond
)

// errTime is the cause of the error of a run that used its processor time.
var errTime = errors.New("it took 100 ms of the processor")

// A stopwatch adds up the processor time of one goroutine. While it runs, the
// goroutine stays on its thread, whose clock counts no other work then.
type stopwatch struct {
	used  time.Duration
	clock time.Duration // of this thread, when the stopwatch was started
	wall  time.Time     // at that moment
}

// startStopwatch returns a stopwatch that runs. The caller must stop it, or the
// copy that it passed on.
func startStopwatch() stopwatch {
	var s stopwatch
	s.start()
	return s
}

func (s *stopwatch) start() {
	runtime.LockOSThread()
	s.clock, s.wall = threadClock(), time.Now()
}

// stop adds the time since start.
func (s *stopwatch) stop() {
	s.used += threadClock() - s.clock
	runtime.UnlockOSThread()
}

// failed returns the result of a run for which no instance could be made.
func (s *stopwatch) failed(err error) Result {
	s.stop()
	return Result{Time: s.used, EndedByTime: errors.Is(err, errTime)}
}

// begin prepares a run with so much fuel and processor time. watch has the time
// that was used for it already.
func (in *instance) begin(ctx context.Context, fuel uint64, limit time.Duration, watch stopwatch) {
	in.preemption = preemption{ctx: ctx, limit: limit, watch: watch}
	in.fuel().Set(fuel)
	in.yieldAt().Set(fuel - min(fuel, quantum))
}

// yieldCheck reports whether the module called the host because a quantum is
// over. Then it sets when the next one is, or ends the run.
func (in *instance) yieldCheck() bool {
	if int64(in.yieldAt().Get()) != wasm.Yielding {
		return false
	}
	if p := &in.preemption; p.due() {
		in.memory.pages.stopCounting() // a long run must not keep its thread
		p.check()
	}
	if err := in.preemption.ended; err != nil {
		panic(err) // the engine ends the module
	}
	left := in.fuel().Get()
	in.yieldAt().Set(left - min(left, quantum))
	return true
}

// due reports whether it is time to let others run, or the caller is gone.
func (p *preemption) due() bool {
	return p.ctx.Err() != nil || time.Since(p.watch.wall) >= yieldAfter
}

// check adds up the time used, lets other goroutines run, and ends the run when
// its time is over.
func (p *preemption) check() {
	p.watch.stop()
	switch {
	case p.ctx.Err() != nil:
		p.ended = p.ctx.Err()
	case p.limit > 0 && p.watch.used > p.limit:
		p.ended = errTime
	default:
		runtime.Gosched()
	}
	p.watch.start()
}
