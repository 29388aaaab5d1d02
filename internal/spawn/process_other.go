//go:build !unix

package spawn

import (
	"os"
	"syscall"
)

var polite, final os.Signal = os.Kill, os.Kill

func attributes() *syscall.SysProcAttr { return nil }

// signalGroup kills only the process, because there are no process groups.
func signalGroup(p *os.Process, _ os.Signal) { _ = p.Kill() }

func keep(int) (wait func()) { return func() {} }
