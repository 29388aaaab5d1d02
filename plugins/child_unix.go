//go:build unix

package plugins

import (
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// limitChild bounds this process. A limit that the system does not know or
// allow leaves the others, and the parent's clock.
func limitChild(j job) {
	cpu := unix.Rlimit{Cur: j.CPUSeconds, Max: j.CPUSeconds}
	_ = unix.Setrlimit(unix.RLIMIT_CPU, &cpu)
	memory := unix.Rlimit{Cur: j.MemoryBytes, Max: j.MemoryBytes}
	_ = unix.Setrlimit(unix.RLIMIT_DATA, &memory) // on Linux this counts private writable pages
	none := unix.Rlimit{}
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &none)
	debug.SetMemoryLimit(int64(j.MemoryBytes / 10 * 7)) // collect before the limit is met
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 5)       // decisions go first
}
