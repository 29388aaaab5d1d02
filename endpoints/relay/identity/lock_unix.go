//go:build unix

package identity

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile waits for an exclusive lock on the file. The system releases it when
// the process dies.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, private)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}
