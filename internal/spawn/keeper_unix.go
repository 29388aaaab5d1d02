//go:build unix

package spawn

import (
	"os"
	"os/exec"
	"syscall"
)

// keeper waits in an agent's group until the pipe to us breaks, which it does
// however we end, and then kills the group. Killed ourselves we can kill
// nobody, and what the kernel does for us where it does anything reaches the
// agent alone, not what that has started. It is in the group, so the group's id
// cannot become somebody else's, and ends with it.
const keeper = `trap "" TERM INT HUP; read -r _; kill -KILL 0`

// keep starts a keeper of the group. It returns what waits for it, after the
// group was killed. Without a keeper, for want of a shell or because the agent
// has ended already, things are as they would be without.
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
