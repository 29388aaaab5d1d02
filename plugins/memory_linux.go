package plugins

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// On Linux a large image lies in a sealed memfd, of which every instance maps
// its own private view. What an instance wrote to are its private pages; the
// kernel names them, and they are copied back from the image. They stay
// private, so that the next decision, which mostly writes to the same pages,
// does not fault. And when it does not fault, there are no more of them than
// the last time, and the kernel need not be asked for their names: that takes
// 15 ns for every page of the image, written to or not. Giving them back (MADV_DONTNEED) and faulting them in again
// was measured slower, on two threads slower than one.

// A frozenMemory is an image's memory from which instances are made.
type frozenMemory struct {
	bytes []byte
	parts []part   // of a small one
	file  *os.File // nil: small enough to be copied
}

func newCopiedFrozen(b []byte) *frozenMemory {
	return &frozenMemory{bytes: b, parts: appendParts(nil, b, 0, len(b))}
}

// newFrozenMemory takes b over; nobody may write to it afterwards.
func newFrozenMemory(b []byte) (*frozenMemory, error) {
	if len(b) <= largestCopied || findPages() == nil {
		return newCopiedFrozen(b), nil
	}
	fd, err := unix.MemfdCreate("policy-image", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return newCopiedFrozen(b), nil // a kernel without it: copy
	}
	f := &frozenMemory{file: os.NewFile(uintptr(fd), "policy-image")}
	if err := f.fill(b); err != nil {
		f.close()
		return nil, fmt.Errorf("freezing a memory of %d bytes: %w", len(b), err)
	}
	return f, nil
}

// fill writes and seals the image, and maps it for reading: the copy source
// is the file's own pages. Pages of zeros are left out until somebody looks.
func (f *frozenMemory) fill(b []byte) error {
	if err := f.file.Truncate(int64(len(b))); err != nil {
		return err
	}
	err := runs(b, func(from, to int) error {
		_, err := f.file.WriteAt(b[from:to], int64(from))
		return err
	})
	if err != nil {
		return err
	}
	seals := unix.F_SEAL_WRITE | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(f.file.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		return err
	}
	view, err := unix.Mmap(int(f.file.Fd()), 0, len(b), unix.PROT_READ, unix.MAP_PRIVATE)
	f.bytes = view
	return err
}

func (f *frozenMemory) close() {
	if f.file == nil {
		return
	}
	if f.bytes != nil {
		_ = unix.Munmap(f.bytes)
	}
	_ = f.file.Close()
	f.file, f.bytes = nil, nil
}

// instance returns a memory that starts as the image.
func (f *frozenMemory) instance(most int) (*memory, error) {
	if f.file == nil {
		return newCopied(f.bytes, f.parts, most), nil
	}
	most = max(most, len(f.bytes))
	buf, err := unix.Mmap(-1, 0, most, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes: %w", most, err)
	}
	_ = unix.Madvise(buf, unix.MADV_NOHUGEPAGE) // a refusal costs speed only
	_, err = unix.MmapPtr(int(f.file.Fd()), 0, unsafe.Pointer(&buf[0]), uintptr(len(f.bytes)),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED|unix.MAP_NORESERVE)
	if err != nil {
		_ = unix.Munmap(buf)
		return nil, fmt.Errorf("mapping an image of %d bytes: %w", len(f.bytes), err)
	}
	return &memory{image: f.bytes, buf: buf, most: most, pages: mapping{used: true}}, nil
}

// A mapping is a memory's buffer as a private view of an image.
type mapping struct {
	used    bool
	private []part // pages that were private after the last reset; nil: not known

	// While a decision is watched its goroutine keeps to its thread, whose page
	// faults are counted. A page becomes private by a fault, and by nothing else.
	watched bool
	faults  int64 // of the thread, when watching began
	ended   int64 // and when the module had ended
	usage   unix.Rusage
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

// watch begins to count the faults of this thread, until restore or unwatch.
func (m *mapping) watch() {
	if m.used && m.private != nil {
		runtime.LockOSThread()
		m.watched, m.faults, m.ended = true, threadFaults(&m.usage), -1
	}
}

// ran is called when the module has ended: what the host does from then on, as
// keeping its answer in memory that is new, says nothing of the view.
func (m *mapping) ran() {
	if m.watched {
		m.ended = threadFaults(&m.usage)
	}
}

// unwatch gives the thread up. What was private is not known then.
func (m *mapping) unwatch() {
	if m.watched {
		runtime.UnlockOSThread()
		m.watched, m.private = false, nil
	}
}

// unchanged ends watching, and tells whether it saw that no page became
// private.
func (m *mapping) unchanged() bool {
	if !m.watched {
		return false
	}
	same := m.ended >= 0 && m.ended == m.faults
	runtime.UnlockOSThread()
	m.watched = false
	return same
}

// mostPrivate is how many pages an instance keeps of its own. A decision on a
// very large input leaves many; the small ones after it shall not pay for it.
const mostPrivate = 512

// restore copies the private pages of buf back from the image.
func (m *mapping) restore(buf, image []byte) error {
	if m.unchanged() {
		putBack(buf, image, m.private)
		return nil
	}
	n := 0
	m.private = m.private[:0]
	err := findPages()(buf, func(from, to int) {
		m.private = appendParts(m.private, image, from, to)
		n += (to - from) / pageSize
	})
	putBack(buf, image, m.private)
	if err == nil && n > mostPrivate {
		err = unix.Madvise(buf, unix.MADV_DONTNEED)
		m.private = m.private[:0]
	}
	if err != nil || !countsFaults() {
		m.private = nil
	}
	return err
}
