//go:build !linux

package spawn

import (
	"os/exec"
	"sync"
	"syscall"
)

// A group is an agent and the processes of its group, if the system has groups.
type group struct {
	cmd  *exec.Cmd
	kept func() // waits for the keeper, after the group was killed

	mu     sync.Mutex
	reaped bool // its pid may be reused, so no more signals
}

// startGroup starts cmd, which has files as standard input, output and error.
func startGroup(cmd *exec.Cmd) (*group, error) {
	cmd.SysProcAttr = attributes()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &group{cmd: cmd, kept: keep(cmd.Process.Pid)}, nil
}

// signal signals the group, unless the agent was reaped.
func (g *group) signal(s syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.reaped {
		signalGroup(g.cmd.Process, s)
	}
}

// wait waits for the agent, kills the rest of its group, and returns how the
// agent ended. Nothing here tells the end of a child without reaping it.
func (g *group) wait() string {
	err := g.cmd.Wait()
	g.signal(final)
	g.mu.Lock()
	g.reaped = true
	g.mu.Unlock()
	g.kept()
	if g.cmd.ProcessState != nil {
		return g.cmd.ProcessState.String()
	}
	return err.Error()
}
