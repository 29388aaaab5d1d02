package postgres

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func setUserTimeout(c syscall.RawConn, after time.Duration) (err error) {
	if failed := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(after.Milliseconds()))
	}); failed != nil {
		return failed
	}
	return err
}
