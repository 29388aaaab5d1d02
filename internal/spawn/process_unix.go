//go:build unix

package spawn

import (
	"os"
	"syscall"
)

var polite, final os.Signal = syscall.SIGTERM, syscall.SIGKILL

func signalGroup(p *os.Process, s os.Signal) {
	// The group may be gone already: there is nothing to do about an error.
	_ = syscall.Kill(-p.Pid, s.(syscall.Signal))
}
