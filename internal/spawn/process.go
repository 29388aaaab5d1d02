package spawn

import (
	"os"
	"time"
)

// Stdin is where the process reads from. Its write deadline may be set.
func (p *Process) Stdin() *os.File { return p.stdin }

// Stdout is what the process writes. It ends at the latest a second after
// the process has.
func (p *Process) Stdout() *os.File { return p.stdout }

// Done is closed when the process has ended and its group was killed.
func (p *Process) Done() <-chan struct{} { return p.done }

// State says how the process ended, such as "exit status 3". It is "" before
// Done is closed.
func (p *Process) State() string {
	select {
	case <-p.done:
		return p.state
	default:
		return ""
	}
}

// Stderr returns the last 8 KiB that the process wrote to its standard
// error, without control characters and without the values of Config.Env.
func (p *Process) Stderr() string { return p.tail.String() }

// Terminate asks the group to end, kills it after grace, and waits.
func (p *Process) Terminate(grace time.Duration) {
	p.signal(polite)
	if p.ended(grace) {
		return
	}
	p.signal(final)
	<-p.done
}

// Close closes the standard input, which asks a well-behaved agent to end,
// and after patience continues as Terminate. It returns when the process has
// ended and the descriptors are closed; nobody may read Stdout afterwards.
func (p *Process) Close(patience, grace time.Duration) {
	p.stdin.Close()
	if !p.ended(patience) {
		p.Terminate(grace)
	}
	p.stdout.Close()
}

func (p *Process) ended(within time.Duration) bool {
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-p.done:
		return true
	case <-t.C:
		return false
	}
}

// signal reaches the whole group, unless the process has been waited for.
func (p *Process) signal(s os.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		signalGroup(p.cmd.Process, s)
	}
}

// await returns how the process ended, having killed what is left of its
// group: before it is reaped where the system allows, for until then its id
// belongs to nobody else.
func (p *Process) await() string {
	awaitExit(p.cmd.Process.Pid)
	if exitIsSeenFirst {
		p.signal(final)
		p.mu.Lock()
		p.reaped = true
		p.mu.Unlock()
	}
	err := p.cmd.Wait()
	if !exitIsSeenFirst {
		p.signal(final)
		p.mu.Lock()
		p.reaped = true
		p.mu.Unlock()
	}
	if p.cmd.ProcessState != nil {
		return p.cmd.ProcessState.String()
	}
	return err.Error()
}
