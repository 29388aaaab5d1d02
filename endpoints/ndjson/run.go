package ndjson

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/spawn"
	"github.com/folkmoot/moot/problem"
)

// A run is one process from its start to its end.
type run struct {
	proc  *spawn.Process
	wire  *wire
	notes *notes
	wg    sync.WaitGroup
	over  chan struct{} // closed when nothing of the run is left

	mu       sync.Mutex
	inStep   chan struct{} // closed when the latest abandoned turn is settled; nil before one
	forgiven bool          // ended by us, for a turn that was cancelled
	asked    bool          // it was handed something
	leaving  bool          // guard waits for wg: nothing may join it
}

// ready returns a process that is in step, started if need be. The caller
// holds the slot.
func (e *Endpoint) ready(ctx context.Context) (*run, error) {
	e.mu.Lock()
	r, closed := e.run, e.closed
	e.mu.Unlock()
	if closed {
		return nil, errClosed
	}
	if r == nil {
		return e.launch()
	}
	if err := await(ctx, r.settled()); err != nil {
		return nil, err
	}
	cause := r.wire.cause()
	if cause == nil {
		return r, nil
	}
	if err := await(ctx, r.over); err != nil { // never two processes at once
		return nil, err
	}
	if !e.mayReplace(r) {
		return nil, cause
	}
	return e.launch()
}

// await waits until c is closed.
func await(ctx context.Context, c <-chan struct{}) error {
	if c == nil {
		return nil
	}
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}

func (e *Endpoint) mayReplace(r *run) bool {
	if !e.replaces(r) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !r.forgiven {
		e.restarts++
	}
	return true
}

// ending adds to the end of a process that another one follows, so that its
// seat need not wait for a person.
func (e *Endpoint) ending(r *run, err error) error {
	if !errors.Is(err, endpoint.ErrExited) || !e.replaces(r) {
		return err
	}
	var p *problem.Error
	if !errors.As(err, &p) {
		return err
	}
	again := *p
	again.Fix, again.Err = "see its last words; it is started anew for its next turn", quiet{errors.Join(endpoint.ErrExited, endpoint.ErrInterrupted)}
	return &again
}

// replaces reports whether a process that has ended is followed by another.
func (e *Endpoint) replaces(r *run) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	return r.forgiven || e.restarts < e.cfg.Restart
}

func (e *Endpoint) launch() (*run, error) {
	c := e.cfg
	proc, err := spawn.Start(spawn.Config{Command: c.Command, Root: c.Root, Dir: c.Dir, Env: c.Env, AllowEnv: c.AllowEnv})
	if err != nil {
		return nil, err
	}
	r := &run{proc: proc, notes: newNotes(e.listener), over: make(chan struct{})}
	r.wire = newWire(proc.Stdin(), c.MaxLine, c.MaxNoise, r.notes)
	r.wg.Go(r.serve)
	go r.guard(c.Grace, e.replaces)
	e.mu.Lock()
	e.run = r
	closed := e.closed
	e.mu.Unlock()
	if closed { // Close came in between and has not seen r
		r.wire.end(errClosed)
		<-r.over
		return nil, errClosed
	}
	return r, nil
}

// hand notes that the process is handed something, which it may remember.
func (r *run) hand() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = true
}

// serve reads until the process closes its output, and says how it ended.
func (r *run) serve() {
	_ = r.wire.read(r.proc.Stdout()) // the end of a pipe is all there is to know
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-r.proc.Done():
		r.wire.end(r.exit("the agent's process has ended: " + r.proc.State()))
	case <-t.C:
		r.wire.end(r.exit("the agent has closed its output and can never answer"))
	}
}

// exit adds the process's last words.
func (r *run) exit(what string) error {
	if words := r.proc.Stderr(); words != "" {
		what += "; its last words:\n" + words
	}
	return fail("AGENT-EXITED", what, "see its last words; restart: N lets it be started anew N times", endpoint.ErrExited)
}

// guard ends the process when its wire has ended, and clears up. That what the
// process knew is gone is told when another follows it.
func (r *run) guard(grace time.Duration, replaced func(*run) bool) {
	<-r.wire.done
	patience := time.Duration(0)
	closing := errors.Is(r.wire.cause(), endpoint.ErrClosed)
	if closing {
		patience, grace = min(closePatience, grace), min(closePatience, grace)
	}
	r.proc.Close(patience, grace)
	r.mu.Lock()
	r.leaving = true
	asked := r.asked
	r.mu.Unlock()
	r.wg.Wait()
	if asked && !closing && replaced(r) {
		r.notes.put(note{signal: endpoint.Signal{Kind: endpoint.SignalForgot}})
	}
	r.notes.close(!closing)
	close(r.over)
}

// overdue gives an abandoned turn its grace and then ends the process.
func (r *run) overdue(x *exchange, cancelled bool, grace time.Duration) {
	settled := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leaving {
		return
	}
	r.inStep = settled
	r.wg.Go(func() {
		defer close(settled)
		t := time.NewTimer(grace)
		defer t.Stop()
		select {
		case <-x.late:
		case <-r.wire.done:
		case <-t.C:
			r.mu.Lock()
			r.forgiven = cancelled
			r.mu.Unlock()
			r.wire.end(r.exit("the agent was ended: it had not come back " + grace.String() + " after its turn was over"))
		}
	})
}

func (r *run) settled() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inStep
}
