//go:build unix

package flock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Lock waits for the exclusive lock of the file at path, which it creates if
// necessary with mode 0600.
func Lock(path string) (unlock func(), err error) {
	unlock, _, err = lock(path, unix.LOCK_EX)
	return unlock, err
}

// TryLock takes the exclusive lock like Lock. If it is not free, TryLock
// returns false.
func TryLock(path string) (unlock func(), ok bool, err error) {
	return lock(path, unix.LOCK_EX|unix.LOCK_NB)
}

func lock(path string, how int) (unlock func(), ok bool, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, err
	}
	for {
		err = unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil {
		return func() { _ = f.Close() }, true, nil
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = nil
	}
	return nil, false, errors.Join(err, f.Close())
}
