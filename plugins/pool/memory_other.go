//go:build !linux

package pool

// A snapshotMemory is the memory of a snapshot, from which instances are made.
type snapshotMemory struct {
	bytes []byte
	runs  []pageRun
}

func newSnapshotMemory(b []byte) (*snapshotMemory, error) {
	return &snapshotMemory{b, appendPageRuns(nil, b, 0, len(b))}, nil
}

func (f *snapshotMemory) newMemory(maxBytes int) (*memory, error) {
	return newCopiedMemory(f.bytes, f.runs, maxBytes), nil
}

func (f *snapshotMemory) close() {}

// A mapping exists on Linux only; elsewhere reset copies the whole snapshot.
type mapping struct{ used bool }

func (mapping) release([]byte) bool       { return false }
func (mapping) countFaults()              {}
func (mapping) stopCounting()             {}
func (mapping) moduleReturned()           {}
func (mapping) restore(_, _ []byte) error { return nil }
