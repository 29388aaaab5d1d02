//go:build unix

package rows

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Alive reports whether there is a process with that id.
func Alive(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}
