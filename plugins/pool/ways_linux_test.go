package pool

import (
	"os"
	"testing"
)

// restoreWays runs f with each way to restore a memory. f must not run in
// parallel with other tests.
func restoreWays(t *testing.T, f func(t *testing.T)) {
	find, counts := findPrivatePages, countsFaults
	defer func() { findPrivatePages, countsFaults = find, counts }()
	try := func(name string, way pageFinder, counting bool) {
		t.Run(name, func(t *testing.T) {
			findPrivatePages = func() pageFinder { return way }
			countsFaults = func() bool { return counting }
			f(t)
		})
	}
	try("copy", nil, false)
	file, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return
	}
	defer file.Close()
	way := readPagemap(file)
	if !probe(way) {
		return
	}
	try("read", way, false)
	if counts() {
		try("read after faults", way, true)
	}
}
