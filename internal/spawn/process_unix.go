//go:build unix

package spawn

import (
	"os"
	"syscall"
)

var polite, final os.Signal = syscall.SIGTERM, syscall.SIGKILL

func signalGroup(p *os.Process, s os.Signal) {
	// An error means that the group is gone already.
	_ = syscall.Kill(-p.Pid, s.(syscall.Signal))
}
