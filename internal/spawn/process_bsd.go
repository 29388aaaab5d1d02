//go:build unix && !linux

package spawn

import "syscall"

const exitIsSeenFirst = false

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func holdThread() (release func()) { return func() {} }

func awaitExit(int) {}

// sealDescriptors has nothing to do with the ones that Go opened.
func sealDescriptors() {}
