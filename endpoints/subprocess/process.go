package subprocess

import (
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/inflight"
	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/internal/spawn"
)

// A Process is one process of the agent, from its start to its end.
type Process[C Connection] struct {
	Conn    C
	Signals *inflight.Queue // closed when the process has ended

	proc  *spawn.Process
	grace time.Duration
	wg    sync.WaitGroup
	done  chan struct{} // closed when the process and all goroutines have ended

	mu     sync.Mutex
	late   chan struct{} // closed when the latest abandoned request has ended; nil before one
	free   bool          // it was ended without counting as a restart
	asked  bool          // it has got a request, which it may remember
	ending bool          // wg is waited for: it must not grow
}

// running reports whether the process can answer.
func (p *Process[C]) running() bool {
	select {
	case <-p.Conn.Done():
		return false
	case <-p.proc.Done(): // its output is still being read
		return false
	default:
		return true
	}
}

// MarkAsked records that the process gets a request, which it will have forgotten
// when it ends.
func (p *Process[C]) MarkAsked() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = true
}

// ExitError returns the error of a process that has ended or can never answer, with
// the last lines of its standard error.
func (p *Process[C]) ExitError(what string) error {
	return ExitError(what, exitFix, p.proc.Stderr())
}

// outputDelay is the time until a process whose output is closed is known to have
// ended by itself. A longer one is ended. On a busy machine its end is known late, and the
// error of an agent that fails at its start must not say that it still ran.
const outputDelay = 5 * time.Second

// readOutput reads until the process closes its output, and ends the connection
// when the process has ended: only then its exit status and all of its last words
// are known.
func (p *Process[C]) readOutput() {
	_ = p.Conn.Read(p.proc.Stdout()) // the error of a closed pipe says nothing more
	what := "the agent's process has ended: "
	t := time.NewTimer(outputDelay)
	defer t.Stop()
	select {
	case <-p.proc.Done():
	case <-t.C:
		what = "the agent has closed its output and can never answer; its process has ended: "
		p.proc.Terminate(p.grace)
	}
	p.Conn.End(p.ExitError(what + p.proc.State()))
}

// finish waits for the goroutines of a process that has ended, and reports whether
// it was asked anything.
func (p *Process[C]) finish() (asked bool) {
	p.mu.Lock()
	p.ending = true
	asked = p.asked
	p.mu.Unlock()
	p.wg.Wait()
	return asked
}

// AwaitLate waits in the background for the late answer to an abandoned request:
// until answered is closed. Without one within the grace period it ends the
// process. counts says whether that counts as a restart; if not, the process is
// replaced even if no restart is left.
func (p *Process[C]) AwaitLate(answered <-chan struct{}, counts bool) {
	late := make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ending {
		return
	}
	p.late = late
	p.wg.Go(func() {
		defer close(late)
		t := time.NewTimer(p.grace)
		defer t.Stop()
		select {
		case <-answered:
		case <-p.Conn.Done():
		case <-t.C:
			p.mu.Lock()
			p.free = !counts
			p.mu.Unlock()
			p.Conn.End(p.ExitError("the agent was ended: it gave no answer within " + human.Duration(p.grace) + " after its turn was over"))
		}
	})
}

func (p *Process[C]) lateAnswer() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.late
}

func (p *Process[C]) endedFree() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.free
}
