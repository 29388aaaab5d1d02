//go:build unix

package device

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// LockFile takes the lock of a file without waiting. The system gives the lock
// back when the process ends. A nil unlock without an error means that holder,
// a process id, has the lock.
func LockFile(path string) (unlock func(), holder string, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, "", err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		b, _ := os.ReadFile(path) // only for the message
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = nil
		}
		return nil, strings.TrimSpace(string(b)), errors.Join(err, f.Close())
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	if err != nil {
		return nil, "", errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, "", nil
}
