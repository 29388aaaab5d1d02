//go:build !unix

package spawn

import (
	"os"
	"syscall"
)

// Signals of an agent. It is always killed, because nothing asks it to end.
const polite, final = syscall.SIGKILL, syscall.SIGKILL

func attributes() *syscall.SysProcAttr { return nil }

// signalGroup kills only the process, because there are no process groups.
func signalGroup(p *os.Process, _ syscall.Signal) { _ = p.Kill() }

func keep(int) (wait func()) { return func() {} }
