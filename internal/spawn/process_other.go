//go:build !unix

package spawn

import (
	"os"
	"syscall"
)

const exitIsSeenFirst = false

var polite, final os.Signal = os.Kill, os.Kill

func attributes() *syscall.SysProcAttr { return nil }

func holdThread() (release func()) { return func() {} }

func awaitExit(int) {}

// signalGroup kills only the process, because there are no process groups.
func signalGroup(p *os.Process, _ os.Signal) { _ = p.Kill() }

func keep(int) (wait func()) { return func() {} }

// sealDescriptors does nothing: Go seals the descriptors that it opens.
func sealDescriptors() {}
