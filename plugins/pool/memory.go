package pool

import "bytes"

// A memory is the linear memory of one instance. It starts as a snapshot and can
// be restored to it. It satisfies experimental.LinearMemory. One goroutine at a
// time uses it.
type memory struct {
	initial    []byte
	buf        []byte    // at least as long as initial
	maxBytes   int       // it may grow to
	highWater  int       // largest size since the last reset
	denied     bool      // growth was refused since the last reset
	runs       []pageRun // all of initial; empty when pages finds the changed ones
	pages      mapping
	yieldCheck func() bool // reports whether the module yields, and not grows
}

const snapshotPage = 4096

var zeros [snapshotPage]byte

// A pageRun is a run of whole pages of a snapshot. Zeros, which are most of a
// small snapshot, are restored without reading it.
type pageRun struct {
	from, to int
	zero     bool
}

// appendPageRuns appends the pages of a snapshot between two addresses.
func appendPageRuns(runs []pageRun, initial []byte, from, to int) []pageRun {
	for ; from < to; from += snapshotPage {
		zero := bytes.Equal(initial[from:from+snapshotPage], zeros[:])
		if n := len(runs); n > 0 && runs[n-1].to == from && runs[n-1].zero == zero {
			runs[n-1].to += snapshotPage
		} else {
			runs = append(runs, pageRun{from, from + snapshotPage, zero})
		}
	}
	return runs
}

// restoreRuns copies runs of a snapshot to buf.
func restoreRuns(buf, initial []byte, runs []pageRun) {
	for _, p := range runs {
		if p.zero {
			clear(buf[p.from:p.to])
		} else {
			copy(buf[p.from:p.to], initial[p.from:p.to])
		}
	}
}

// maxCopiedSnapshot is the size in bytes up to which copying a whole snapshot is
// faster than asking the kernel for the changed pages.
const maxCopiedSnapshot = 256 << 10

// newCopiedMemory returns a memory that is a copy of a snapshot.
func newCopiedMemory(initial []byte, runs []pageRun, maxBytes int) *memory {
	return &memory{initial: initial, runs: runs, buf: append([]byte(nil), initial...), maxBytes: maxBytes}
}

// Reallocate resizes the memory. It returns nil when the size is over the limit,
// and when the module yields.
func (m *memory) Reallocate(size uint64) []byte {
	if m.yieldCheck != nil && m.yieldCheck() {
		return nil
	}
	if size > uint64(m.maxBytes) {
		m.denied = true
		return nil
	}
	n := int(size)
	m.highWater = max(m.highWater, n)
	if n > len(m.buf) {
		// Double the size, so that growing page by page takes linear time.
		b := make([]byte, min(max(n, 2*len(m.buf)), m.maxBytes))
		copy(b, m.buf)
		m.buf = b
	}
	return m.buf[:n:n]
}

// Free unmaps the memory.
func (m *memory) Free() {
	if m.pages.release(m.buf) {
		m.buf = nil
	}
}

// maxReusedGrowth is the growth in bytes up to which a memory is used again.
// Zeroing more costs as much as a new one, and keeping it costs memory.
const maxReusedGrowth = 1 << 20

// outgrown reports that the memory is too large to be restored.
func (m *memory) outgrown() bool { return m.highWater > len(m.initial)+maxReusedGrowth }

// reset restores the contents of the snapshot; instance.shrink restores the size.
// After an error the memory must not be used again.
func (m *memory) reset() error {
	m.denied = false
	if m.highWater > len(m.initial) {
		clear(m.buf[len(m.initial):m.highWater])
	}
	m.highWater = len(m.initial)
	if !m.pages.used {
		restoreRuns(m.buf, m.initial, m.runs)
		return nil
	}
	return m.pages.restore(m.buf[:len(m.initial)], m.initial)
}
