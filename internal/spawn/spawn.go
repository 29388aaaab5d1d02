// Package spawn starts the process of an agent and ensures that it ends. The
// command is an argv from the configuration, never a shell command. The process
// gets a clean environment, its own process group, no inherited descriptors and
// an existing working folder, which lies within the root if there is one. When
// the process or the host ends, even by kill -9, the whole group is killed.
//
// On Linux everything that the process has started is killed, also what has
// left the group for a session of its own, unless it belongs to another user.
// On other systems, what left the group is not killed; its access to our pipes
// ends one second after the process has ended.
package spawn

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/internal/term"
)

// A Config describes the process to start.
type Config struct {
	Command  []string // argv; a name without a slash is looked up in PATH, one with is relative to Dir
	Root     string   // when set, Dir is a path inside it; links that lead out are refused
	Dir      string   // working folder; "" is the current folder, or Root
	Env      []string // KEY=VALUE; the values are kept out of what Stderr returns
	AllowEnv []string // additional variables to pass on; "NAME" or "PREFIX*"
}

// A Process is a running agent. Its methods may be used concurrently.
type Process struct {
	group  *group
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	tail   *tail
	done   chan struct{}
	state  string // exit state; set before done is closed
}

// Start starts the process. Errors are of type *problem.Error with the codes
// AGENT-COMMAND, AGENT-NOTFOUND, AGENT-NOTEXEC, AGENT-CWD, AGENT-ENV and
// AGENT-START. The caller reads Stdout to its end and calls Close.
func Start(cfg Config) (*Process, error) {
	cmd, err := prepare(cfg)
	if err != nil {
		return nil, err
	}
	p := &Process{done: make(chan struct{}), tail: newTail(cfg.Env)}
	if err := p.start(cmd); err != nil {
		return nil, startProblem(cfg.Command[0], err)
	}
	return p, nil
}

// Check reports what prevents a start of the process: its program or its working
// folder is missing, or its environment is invalid. It starts nothing. The errors
// are those of Start.
func Check(cfg Config) error {
	_, err := prepare(cfg)
	return err
}

func prepare(cfg Config) (*exec.Cmd, error) {
	dir, err := workingDir(cfg.Root, cfg.Dir)
	if err != nil {
		return nil, err
	}
	env, err := environ(cfg, os.Environ(), dir)
	if err != nil {
		return nil, err
	}
	path, err := program(cfg.Command, dir, env)
	if err != nil {
		return nil, err
	}
	return &exec.Cmd{Path: path, Args: cfg.Command, Dir: dir, Env: env}, nil
}

// start connects the pipes and starts the process. A goroutine ends after the
// process and its group.
func (p *Process) start(cmd *exec.Cmd) error {
	ours, theirs, err := pipes()
	if err != nil {
		return err
	}
	p.stdin, p.stdout, p.stderr = ours[0], ours[1], ours[2]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	p.group, err = startGroup(cmd)
	closeAll(theirs)
	if err != nil {
		closeAll(ours)
		return err
	}
	go p.run()
	return nil
}

func (p *Process) run() {
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		p.tail.fill(p.stderr)
	}()
	p.state = p.group.wait()
	// Only processes that left the group still hold the other ends.
	end := time.Now().Add(time.Second)
	p.stdout.SetReadDeadline(end)
	p.stderr.SetReadDeadline(end)
	<-drained
	p.stderr.Close()
	close(p.done)
}

// pipes returns our ends and the child's ends of stdin, stdout and stderr.
func pipes() (ours, theirs []*os.File, err error) {
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ours)
			closeAll(theirs)
			return nil, nil, err
		}
		if i == 0 {
			r, w = w, r
		}
		ours, theirs = append(ours, r), append(theirs, w)
	}
	return ours, theirs, nil
}

func closeAll(fs []*os.File) {
	for _, f := range fs {
		f.Close()
	}
}

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

// Succeeded reports whether the process has ended by itself with exit status 0.
func (p *Process) Succeeded() bool { return p.State() == "exit status 0" }

// Stderr returns the last 8 KiB that the process wrote to its standard
// error, without control characters and without the values of Config.Env.
func (p *Process) Stderr() string { return p.tail.String() }

// Terminate asks the group to end, kills it after grace, and waits.
func (p *Process) Terminate(grace time.Duration) {
	p.group.signal(polite)
	if p.ended(grace) {
		return
	}
	p.group.signal(final)
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
