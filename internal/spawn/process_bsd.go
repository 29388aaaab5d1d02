//go:build unix && !linux

package spawn

import "syscall"

const exitIsSeenFirst = false

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func holdThread() (release func()) { return func() {} }

func awaitExit(int) {}

// sealDescriptors does nothing: Go seals the descriptors that it opens.
func sealDescriptors() {}
