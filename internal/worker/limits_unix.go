//go:build unix

package worker

import (
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// enforce limits this process. A limit that the system does not know or allow
// leaves the others, and the parent's timer.
func (l Limits) enforce() {
	seconds, memory := l.seconds(), l.Memory*memoryFactor
	setLimit(unix.RLIMIT_CPU, seconds, seconds+1) // SIGXCPU first, then SIGKILL
	setLimit(unix.RLIMIT_DATA, memory, memory)    // on Linux this counts private writable pages
	signal.Ignore(syscall.SIGXFSZ)                // a write over the limit fails
	setLimit(unix.RLIMIT_FSIZE, l.File, l.File)   // pipes are no files
	setLimit(unix.RLIMIT_CORE, 0, 0)
	debug.SetMemoryLimit(int64(l.Memory / 10 * 7)) // collect garbage before the limit
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 5)  // decisions go first
}

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (l Limits) seconds() uint64 { return uint64((l.CPU + time.Second - 1) / time.Second) }

// setLimit sets a soft and a hard limit. Their type differs among systems.
func setLimit(resource int, soft, hard uint64) {
	var limit syscall.Rlimit
	assign(&limit.Cur, soft)
	assign(&limit.Max, hard)
	_ = syscall.Setrlimit(resource, &limit)
}

func assign[T int64 | uint64](field *T, value uint64) { *field = T(value) }
