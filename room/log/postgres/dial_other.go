//go:build !linux

package postgres

import (
	"syscall"
	"time"
)

// setUserTimeout does nothing: other systems end such a connection by their own rules, or by
// keepalive probes.
func setUserTimeout(syscall.RawConn, time.Duration) error { return nil }
