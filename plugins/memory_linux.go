package plugins

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// On Linux a large image lies in a sealed memfd, of which every instance maps
// its own private view. What an instance wrote to are its private pages; the
// kernel names them, and they are copied back from the image. They stay
// private, so that the next decision, which mostly writes to the same pages,
// does not fault. Giving them back (MADV_DONTNEED) and faulting them in again
// was measured slower, on two threads slower than one.

// A frozenMemory is an image's memory from which instances are made.
type frozenMemory struct {
	bytes []byte
	file  *os.File // nil: small enough to be copied
}

// newFrozenMemory takes b over; nobody may write to it afterwards.
func newFrozenMemory(b []byte) (*frozenMemory, error) {
	if len(b) <= largestCopied || findPages() == nil {
		return &frozenMemory{bytes: b}, nil
	}
	fd, err := unix.MemfdCreate("policy-image", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return &frozenMemory{bytes: b}, nil // a kernel without it: copy
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
		return newCopied(f.bytes, most), nil
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

// A mapping tells whether a memory's buffer is a private view of an image.
type mapping struct{ used bool }

// release unmaps the buffer, if it was mapped.
func (m *mapping) release(buf []byte) bool {
	if !m.used || buf == nil {
		return false
	}
	m.used = false
	_ = unix.Munmap(buf)
	return true
}

// mostPrivate is how many pages an instance keeps of its own. A decision on a
// very large input leaves many; the small ones after it shall not pay for it.
const mostPrivate = 512

// restore copies the private pages of buf back from the image.
func (m *mapping) restore(buf, image []byte) error {
	n := 0
	err := findPages()(buf, func(from, to int) {
		copy(buf[from:to], image[from:to])
		n += (to - from) / pageSize
	})
	if err == nil && n > mostPrivate {
		err = unix.Madvise(buf, unix.MADV_DONTNEED)
	}
	return err
}
