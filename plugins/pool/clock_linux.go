package pool

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadClock returns the processor time of this thread.
func threadClock() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // every Linux has it
	return time.Duration(t.Nano())
}
