package pool

import (
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// threadClock returns the processor time of this thread.
func threadClock() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // every Linux has it
	return time.Duration(t.Nano())
}

// threadFaults returns the number of page faults of this thread, or -1. The
// kernel writes to u. A call takes a third of a microsecond.
func threadFaults(u *unix.Rusage) int64 {
	if unix.Getrusage(unix.RUSAGE_THREAD, u) != nil {
		return -1
	}
	return int64(u.Minflt) + int64(u.Majflt)
}

// countsFaults reports whether this kernel counts, at once and for the thread
// that wrote, the fault by which a page of a private view becomes private. Linux
// does (mm_account_fault in mm/memory.c); an emulation of Linux may not.
var countsFaults = sync.OnceValue(func() bool {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b, err := mapProbe(8)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Munmap(b) }()
	var u unix.Rusage
	for at := 0; at < len(b); at += pageSize {
		if at >= len(b)/2 && b[at] != 0 { // a page that was read before it is written to
			return false
		}
		before := threadFaults(&u)
		b[at] = 1
		if before < 0 || threadFaults(&u) <= before {
			return false
		}
	}
	return true
})
