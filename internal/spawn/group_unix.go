//go:build unix && !linux

package spawn

import (
	"os"
	"os/exec"
	"syscall"
)

// Signals of an agent: it is asked to end, and killed.
const polite, final = syscall.SIGTERM, syscall.SIGKILL

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func signalGroup(p *os.Process, s syscall.Signal) {
	// An error means that the group is gone already.
	_ = syscall.Kill(-p.Pid, s)
}

// keeper is a process in the group of the agent. It waits until the pipe to the
// host breaks, which happens however the host ends, and then kills the group. A
// killed host cannot do this. The keeper belongs to the group, so the group id
// cannot be reused.
const keeper = `trap "" TERM INT HUP; read -r _; kill -KILL 0`

// keep starts a keeper of the group. The returned function waits for it; call it
// after the group was killed. If the keeper cannot start, because there is no
// shell or the agent has ended already, the agent runs without one.
func keep(group int) (wait func()) {
	r, w, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	defer r.Close()
	cmd := &exec.Cmd{
		Path: "/bin/sh", Args: []string{"sh", "-c", keeper}, Dir: "/", Env: []string{}, Stdin: r,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pgid: group},
	}
	if cmd.Start() != nil {
		w.Close()
		return func() {}
	}
	return func() {
		w.Close()
		_ = cmd.Wait() // it was killed
	}
}
