//go:build unix

package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// holdFile takes a file's lock, which the system gives back when the process
// dies. Without an error and without unlock, holder has it.
func holdFile(path string) (unlock func(), holder string, err error) {
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
