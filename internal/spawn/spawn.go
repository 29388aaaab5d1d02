// Package spawn starts an agent's process by the house's rules and makes sure
// that it ends: an argv and never a shell, a program that comes from
// configuration, a clean environment, its own process group, no inherited
// descriptors, and a working folder that exists and, where a root is given,
// lies within it. Whenever the process ends, or we do, be it by kill -9, its
// whole group is killed.
//
// A process that moved to a session of its own has left the group and is out
// of reach; its hold on our pipes is cut a second after its parent's end.
package spawn

import (
	"os"
	"os/exec"
	"sync"
	"time"
)

// A Config says what to start.
type Config struct {
	Command  []string // argv; a name without a slash is looked up in PATH, one with is relative to Dir
	Root     string   // when set, Dir is a path inside it; links that lead out are refused
	Dir      string   // working folder; "" is the present one, or Root
	Env      []string // KEY=VALUE; the values are kept out of what Stderr returns
	AllowEnv []string // variables passed on beside the usual ones; "NAME" or "PREFIX*"
}

// A Process is a running agent. Its methods may be used concurrently.
type Process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	tail   *tail
	done   chan struct{}
	state  string // how it ended; set before done is closed

	mu     sync.Mutex
	reaped bool // its id may belong to somebody else: no more signals
}

// Start starts the process. Errors are of type *problem.Error with the codes
// AGENT-COMMAND, AGENT-NOTFOUND, AGENT-NOTEXEC, AGENT-CWD, AGENT-ENV and
// AGENT-START. The caller reads Stdout to its end and calls Close.
func Start(cfg Config) (*Process, error) {
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
	p := &Process{done: make(chan struct{}), tail: newTail(cfg.Env)}
	p.cmd = &exec.Cmd{Path: path, Args: cfg.Command, Dir: dir, Env: env, SysProcAttr: attributes()}
	if err := p.start(); err != nil {
		return nil, startProblem(cfg.Command[0], err)
	}
	return p, nil
}

// start connects the pipes and leaves the process to a goroutine of its own,
// which waits for it and ends when both have.
func (p *Process) start() error {
	ours, theirs, err := pipes()
	if err != nil {
		return err
	}
	p.stdin, p.stdout, p.stderr = ours[0], ours[1], ours[2]
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	started := make(chan error, 1)
	go p.run(started, theirs)
	err = <-started
	if err != nil {
		closeAll(ours)
	}
	return err
}

func (p *Process) run(started chan<- error, theirs []*os.File) {
	release := holdThread()
	defer release()
	sealDescriptors()
	err := p.cmd.Start()
	closeAll(theirs)
	if err != nil {
		started <- err
		return
	}
	kept := keep(p.cmd.Process.Pid)
	started <- nil
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		p.tail.fill(p.stderr)
	}()
	p.state = p.await()
	kept()
	// Whoever still holds the other ends has left the group.
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
