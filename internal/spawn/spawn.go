// Package spawn starts the process of an agent and ensures that it ends. The
// command is an argv from the configuration, never a shell command. The process
// gets a clean environment, its own process group, no inherited descriptors and
// an existing working folder, which lies within the root if there is one. When
// the process or the host ends, even by kill -9, the whole group is killed.
//
// A child that starts its own session leaves the group and is not killed. Its
// access to our pipes ends one second after the process has ended.
package spawn

import (
	"os"
	"os/exec"
	"sync"
	"time"
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
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	tail   *tail
	done   chan struct{}
	state  string // exit state; set before done is closed

	mu     sync.Mutex
	reaped bool // its pid may be reused, so no more signals
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

// start connects the pipes and starts the process in a goroutine, which ends
// after the process and its group.
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
