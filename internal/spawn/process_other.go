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

// signalGroup reaches the process alone: there are no groups here.
func signalGroup(p *os.Process, _ os.Signal) { _ = p.Kill() }

func keep(int) (wait func()) { return func() {} }

// sealDescriptors has nothing to do with the ones that Go opened.
func sealDescriptors() {}
