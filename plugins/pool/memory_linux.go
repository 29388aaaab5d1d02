package pool

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// On Linux a large snapshot is a sealed memfd, and each instance maps a private
// view of it (copy on write). The pages that an instance wrote to are private to
// its view. The kernel lists them, and reset copies them back from the snapshot.
// They stay private, so that the next decision, which mostly writes to the same
// pages, causes no page fault. When a decision causes none, the list is the one
// of the last time, and the kernel is not asked: that takes 15 ns for each page
// of the snapshot. Giving pages back with MADV_DONTNEED was measured slower.

// A snapshotMemory is the memory of a snapshot, from which instances are made.
type snapshotMemory struct {
	bytes []byte
	runs  []pageRun // of a small one
	file  *os.File  // nil: small enough to be copied
}

func newCopiedSnapshotMemory(b []byte) *snapshotMemory {
	return &snapshotMemory{bytes: b, runs: appendPageRuns(nil, b, 0, len(b))}
}

// newSnapshotMemory owns b from then on.
func newSnapshotMemory(b []byte) (*snapshotMemory, error) {
	if len(b) <= maxCopiedSnapshot || findPrivatePages() == nil {
		return newCopiedSnapshotMemory(b), nil
	}
	fd, err := unix.MemfdCreate("policy-snapshot", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return newCopiedSnapshotMemory(b), nil // a kernel without it: copy
	}
	f := &snapshotMemory{file: os.NewFile(uintptr(fd), "policy-snapshot")}
	if err := f.fill(b); err != nil {
		f.close()
		return nil, fmt.Errorf("storing a snapshot of %d bytes: %w", len(b), err)
	}
	return f, nil
}

// fill writes and seals the snapshot, and maps it for reading. Pages of zeros
// stay holes of the file.
func (f *snapshotMemory) fill(b []byte) error {
	if err := f.file.Truncate(int64(len(b))); err != nil {
		return err
	}
	for _, run := range appendPageRuns(nil, b, 0, len(b)) {
		if run.zero {
			continue
		}
		if _, err := f.file.WriteAt(b[run.from:run.to], int64(run.from)); err != nil {
			return err
		}
	}
	seals := unix.F_SEAL_WRITE | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(f.file.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		return err
	}
	view, err := unix.Mmap(int(f.file.Fd()), 0, len(b), unix.PROT_READ, unix.MAP_PRIVATE)
	f.bytes = view
	return err
}

func (f *snapshotMemory) close() {
	if f.file == nil {
		return
	}
	if f.bytes != nil {
		_ = unix.Munmap(f.bytes)
	}
	_ = f.file.Close()
	f.file, f.bytes = nil, nil
}

// newMemory returns a memory that equals the snapshot.
func (f *snapshotMemory) newMemory(maxBytes int) (*memory, error) {
	if f.file == nil {
		return newCopiedMemory(f.bytes, f.runs, maxBytes), nil
	}
	maxBytes = max(maxBytes, len(f.bytes))
	buf, err := unix.Mmap(-1, 0, maxBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes: %w", maxBytes, err)
	}
	_ = unix.Madvise(buf, unix.MADV_NOHUGEPAGE) // a refusal costs speed only
	_, err = unix.MmapPtr(int(f.file.Fd()), 0, unsafe.Pointer(&buf[0]), uintptr(len(f.bytes)),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED|unix.MAP_NORESERVE)
	if err != nil {
		_ = unix.Munmap(buf)
		return nil, fmt.Errorf("mapping a snapshot of %d bytes: %w", len(f.bytes), err)
	}
	return &memory{initial: f.bytes, buf: buf, maxBytes: maxBytes, pages: mapping{used: true}}, nil
}

// A mapping is the state of a memory whose buffer is a private view of a
// snapshot.
type mapping struct {
	used    bool
	private []pageRun // pages that were private after the last reset; nil: unknown

	// A page becomes private by a page fault only. While faults are counted the
	// goroutine is locked to its thread, whose count the kernel keeps.
	counting bool
	faults   int64 // of the thread, when counting began
	returned int64 // when the module returned; -1: it has not
	usage    unix.Rusage
}

// release unmaps the buffer, if it was mapped.
func (m *mapping) release(buf []byte) bool {
	if !m.used || buf == nil {
		return false
	}
	m.used, m.private = false, nil
	_ = unix.Munmap(buf)
	return true
}

// countFaults starts to count the page faults of this thread. restore and
// stopCounting end it.
func (m *mapping) countFaults() {
	if m.used && m.private != nil {
		runtime.LockOSThread()
		m.counting, m.faults, m.returned = true, threadFaults(&m.usage), -1
	}
}

// moduleReturned ends the part whose faults count: the host's own faults after
// it, such as in the answer's memory, do not change the view.
func (m *mapping) moduleReturned() {
	if m.counting {
		m.returned = threadFaults(&m.usage)
	}
}

// stopCounting unlocks the thread. The private pages are unknown afterwards.
func (m *mapping) stopCounting() {
	if m.counting {
		runtime.UnlockOSThread()
		m.counting, m.private = false, nil
	}
}

// noFaults stops counting and reports whether no page became private.
func (m *mapping) noFaults() bool {
	if !m.counting {
		return false
	}
	same := m.returned >= 0 && m.returned == m.faults
	runtime.UnlockOSThread()
	m.counting = false
	return same
}

// maxPrivatePages is how many private pages an instance keeps. A decision on a
// large input leaves many, and later small decisions must not pay for them.
const maxPrivatePages = 512

// restore copies the private pages of buf back from the snapshot.
func (m *mapping) restore(buf, initial []byte) error {
	if m.noFaults() {
		restoreRuns(buf, initial, m.private)
		return nil
	}
	n := 0
	m.private = m.private[:0]
	err := findPrivatePages()(buf, func(from, to int) {
		m.private = appendPageRuns(m.private, initial, from, to)
		n += (to - from) / pageSize
	})
	restoreRuns(buf, initial, m.private)
	if err == nil && n > maxPrivatePages {
		err = unix.Madvise(buf, unix.MADV_DONTNEED)
		m.private = m.private[:0]
	}
	if err != nil || !countsFaults() {
		m.private = nil
	}
	return err
}
