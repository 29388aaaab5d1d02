package spawn

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/internal/term"
)

// Stdin is the standard input of the process. The caller may set its write
// deadline.
func (p *Process) Stdin() *os.File { return p.stdin }

// Stdout is the standard output of the process. It ends at most one second after
// the process.
func (p *Process) Stdout() *os.File { return p.stdout }

// Done is closed when the process has ended and its group was killed.
func (p *Process) Done() <-chan struct{} { return p.done }

// State returns how the process ended, such as "exit status 3". It is "" before
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

// Close closes the standard input, which asks an agent to end. After wait it
// continues like Terminate. It returns when the process has ended and the
// descriptors are closed. The caller must not read Stdout afterwards.
func (p *Process) Close(wait, grace time.Duration) {
	p.stdin.Close()
	if !p.ended(wait) {
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

// signal signals the whole group, unless the process was reaped.
func (p *Process) signal(s os.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		signalGroup(p.cmd.Process, s)
	}
}

// killGroup kills the group once, before its id may be reused.
func (p *Process) killGroup() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		signalGroup(p.cmd.Process, final)
		p.reaped = true
	}
}

// await waits for the process, kills the rest of its group, and returns the exit
// state. Where the system allows, it kills the group before it reaps the
// process, because until then the pid cannot be reused.
func (p *Process) await() string {
	if awaitExit(p.cmd.Process.Pid) {
		p.killGroup()
	}
	err := p.cmd.Wait()
	p.killGroup()
	if p.cmd.ProcessState != nil {
		return p.cmd.ProcessState.String()
	}
	return err.Error()
}

// tailBytes is how much of the standard error of a process is kept.
const tailBytes = 8 << 10

// shortSecret is the minimum length of a value to redact. Shorter values, such
// as "1" and "true", would redact whole texts.
const shortSecret = 6

// A tail keeps the end of the standard error and the values to redact in it.
type tail struct {
	mu      sync.Mutex
	ring    []byte
	cut     bool
	secrets []string // pairs for strings.NewReplacer
}

func newTail(env []string) *tail {
	t := new(tail)
	for _, kv := range env {
		if _, v, ok := strings.Cut(kv, "="); ok && len(v) >= shortSecret {
			t.secrets = append(t.secrets, v, "[redacted]")
		}
	}
	return t
}

// fill reads r to its end, so that the process never blocks on writing.
func (t *tail) fill(r io.Reader) {
	buf := make([]byte, tailBytes)
	for {
		n, err := r.Read(buf)
		t.add(buf[:n])
		if err != nil {
			return
		}
	}
}

func (t *tail) add(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ring = append(t.ring, b...)
	if n := len(t.ring) - tailBytes; n > 0 {
		t.ring = append(t.ring[:0], t.ring[n:]...)
		t.cut = true
	}
}

// String returns the text. A truncated first line is dropped.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := string(t.ring)
	if t.cut {
		// The truncated line could hold the end of a secret.
		if _, rest, ok := strings.Cut(s, "\n"); ok {
			s = rest
		} else if len(t.secrets) > 0 {
			s = ""
		}
	}
	return strings.TrimSpace(term.Strip(strings.NewReplacer(t.secrets...).Replace(s)))
}
