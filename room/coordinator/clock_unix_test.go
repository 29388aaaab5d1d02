//go:build unix

package coordinator_test

import (
	"syscall"
	"time"
)

// processorTime is what this process has used so far: unlike elapsed time it
// hardly depends on what else a machine is doing.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
