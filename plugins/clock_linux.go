package plugins

import (
	"time"

	"golang.org/x/sys/unix"
)

func thisThread() int { return unix.Gettid() }

// threadClock is how long a thread of this process has had a processor. The
// number of its clock is made as MAKE_THREAD_CPUCLOCK of Linux makes it
// (include/linux/posix-timers.h).
func threadClock(thread int) time.Duration {
	const perThread, sched = 4, 2
	var t unix.Timespec
	if unix.ClockGettime(int32(^thread<<3|perThread|sched), &t) != nil {
		return time.Duration(time.Now().UnixNano())
	}
	return time.Duration(t.Nano())
}
