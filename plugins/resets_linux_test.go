package plugins

import (
	"os"
	"testing"
)

// resets are the ways in which a memory is put back; a test that sets one may
// not run beside others.
func resets(t *testing.T, f func(t *testing.T)) {
	find, counts := findPages, countsFaults
	defer func() { findPages, countsFaults = find, counts }()
	try := func(name string, way pageFinder, counting bool) {
		t.Run(name, func(t *testing.T) {
			findPages = func() pageFinder { return way }
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
	p := &pagemap{file, file.Fd()}
	for name, way := range map[string]pageFinder{"scan": p.scan, "read": p.read} {
		if works(way) {
			try(name, way, false)
			if counts() {
				try(name+" after faults", way, true)
			}
		}
	}
}
