package ndjson

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/inflight"
	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/internal/spawn"
	"github.com/folkmoot/moot/problem"
)

// A process is one process of the agent, from its start to its end.
type process struct {
	proc    *spawn.Process
	wire    *wire
	signals *inflight.Queue
	wg      sync.WaitGroup
	done    chan struct{} // closed when all goroutines have ended

	mu        sync.Mutex
	late      chan struct{} // closed when the latest abandoned turn has ended; nil before one
	cancelled bool          // it was killed because its turn was cancelled: not its fault
	asked     bool          // it has got a request, which it may remember
	ending    bool          // wg is waited for: it must not grow
}

// ready returns a process that can take a prompt, and starts one if needed. The
// caller has acquired the slot.
func (e *Endpoint) ready(ctx context.Context) (*process, error) {
	e.mu.Lock()
	p, closed := e.process, e.closed
	e.mu.Unlock()
	if closed {
		return nil, errClosed
	}
	if p == nil {
		return e.start()
	}
	if err := await(ctx, p.lateTurn()); err != nil {
		return nil, err
	}
	cause := p.wire.cause()
	if cause == nil {
		return p, nil
	}
	if err := await(ctx, p.done); err != nil { // two processes never run at once
		return nil, err
	}
	if !e.countRestart(p) {
		return nil, cause
	}
	return e.start()
}

// await waits until c is closed. A nil channel counts as closed.
func await(ctx context.Context, c <-chan struct{}) error {
	if c == nil {
		return nil
	}
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return endedError(ctx)
	}
}

// countRestart reports whether p may be replaced, and counts that unless p was
// killed because its turn was cancelled.
func (e *Endpoint) countRestart(p *process) bool {
	if !e.mayRestart(p) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !p.cancelled {
		e.restarts++
	}
	return true
}

// mayRestart reports whether a process that has ended may be replaced.
func (e *Endpoint) mayRestart(p *process) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	return p.cancelled || e.restarts < e.cfg.Restart
}

// markRestart marks the error of a process that will be replaced with
// endpoint.ErrInterrupted, so that its seat is not suspended.
func (e *Endpoint) markRestart(p *process, err error) error {
	if !errors.Is(err, endpoint.ErrExited) || !e.mayRestart(p) {
		return err
	}
	var coded *problem.Error
	if !errors.As(err, &coded) {
		return err
	}
	marked := *coded
	marked.Fix, marked.Kind = "see its last words; it is restarted for its next turn", errors.Join(endpoint.ErrExited, endpoint.ErrInterrupted)
	return &marked
}

func (e *Endpoint) start() (*process, error) {
	c := e.cfg
	proc, err := spawn.Start(spawn.Config{Command: c.Command, Root: c.Root, Dir: c.Dir, Env: c.Env, AllowEnv: c.AllowEnv})
	if err != nil {
		return nil, err
	}
	p := &process{proc: proc, signals: inflight.NewQueue(e.currentFloor), done: make(chan struct{})}
	p.wire = newWire(proc.Stdin(), c.MaxLine, c.MaxNoise, p.signals)
	p.wire.words = proc.Stderr
	p.wg.Go(func() { p.readOutput(c.Grace) })
	go p.cleanUp(c.Grace, min(c.Close, c.Grace), e.mayRestart)
	e.mu.Lock()
	e.process = p
	closed := e.closed
	e.mu.Unlock()
	if closed { // Close was called meanwhile and has not seen p
		p.wire.end(errClosed)
		<-p.done
		return nil, errClosed
	}
	return p, nil
}

// setAsked records that the process gets a request.
func (p *process) setAsked() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = true
}

// outputDelay is the time until a process whose output is closed is known to have
// ended by itself. A longer one is ended.
const outputDelay = time.Second

// readOutput reads until the process closes its output, and ends the wire when the
// process has ended: only then its exit status and all of its last words are known.
func (p *process) readOutput(grace time.Duration) {
	_ = p.wire.read(p.proc.Stdout()) // the error of a closed pipe says nothing more
	what := "the agent's process has ended: "
	t := time.NewTimer(outputDelay)
	defer t.Stop()
	select {
	case <-p.proc.Done():
	case <-t.C:
		what = "the agent has closed its output and can never answer; its process has ended: "
		p.proc.Terminate(grace)
	}
	p.wire.end(p.exitError(what + p.proc.State()))
}

// exitError returns the error of a process that has ended, with the last lines
// of its standard error.
func (p *process) exitError(what string) error {
	return p.wire.exitError(what, "see its last words; restart: N allows N restarts")
}

// cleanUp ends the process when its wire has ended, and waits for the goroutines
// of p. If another process will follow, it tells the room that the agent has
// lost what it was told.
func (p *process) cleanUp(grace, closeGrace time.Duration, mayRestart func(*process) bool) {
	<-p.wire.done
	stdinGrace := time.Duration(0)
	closing := errors.Is(p.wire.cause(), endpoint.ErrClosed)
	if closing {
		stdinGrace, grace = closeGrace, closeGrace
	}
	p.proc.Close(stdinGrace, grace)
	p.mu.Lock()
	p.ending = true
	asked := p.asked
	p.mu.Unlock()
	p.wg.Wait()
	if !closing {
		p.reportEnd(asked, mayRestart(p))
	}
	p.signals.Close(!closing)
	close(p.done)
}

// reportEnd tells the room that the process has ended, and, if another one follows,
// that the agent has lost what it was told.
func (p *process) reportEnd(asked, restarts bool) {
	code := endpoint.ExitedForGood
	if restarts {
		code = endpoint.ExitedRestarts
	}
	if asked && restarts {
		p.signals.Put(endpoint.Signal{Kind: endpoint.SignalForgot})
	}
	p.signals.Put(endpoint.Signal{Kind: endpoint.SignalExited, Code: code, Detail: p.wire.cause().Error()})
}

// awaitLate waits in the background for the late response of an abandoned turn.
// Without one within the grace period it ends the process. cancelled says that
// the turn was cancelled and did not time out.
func (p *process) awaitLate(x *inflight.Request, cancelled bool, grace time.Duration) {
	late := make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ending {
		return
	}
	p.late = late
	p.wg.Go(func() {
		defer close(late)
		t := time.NewTimer(grace)
		defer t.Stop()
		select {
		case <-x.Late:
		case <-p.wire.done:
		case <-t.C:
			p.mu.Lock()
			p.cancelled = cancelled
			p.mu.Unlock()
			p.wire.end(p.exitError("the agent was ended: it gave no answer within " + human.Duration(grace) + " after its turn was over"))
		}
	})
}

func (p *process) lateTurn() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.late
}
