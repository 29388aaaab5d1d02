//go:build unix

package compile

import (
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitChild limits this process. A limit that the system does not know or
// allow leaves the others, and the parent's timer.
func limitChild(j job) {
	setLimit(unix.RLIMIT_CPU, j.CPUSeconds, j.CPUSeconds+1)  // SIGXCPU first, then SIGKILL
	setLimit(unix.RLIMIT_DATA, j.MemoryBytes, j.MemoryBytes) // on Linux this counts private writable pages
	setLimit(unix.RLIMIT_CORE, 0, 0)
	debug.SetMemoryLimit(int64(j.MemoryBytes / 10 * 7)) // collect garbage before the limit
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 5)       // decisions go first
}

// setLimit sets a soft and a hard limit. Their type differs among systems.
func setLimit(resource int, soft, hard uint64) {
	var limit syscall.Rlimit
	assign(&limit.Cur, soft)
	assign(&limit.Max, hard)
	_ = syscall.Setrlimit(resource, &limit)
}

func assign[T int64 | uint64](field *T, value uint64) { *field = T(value) }
