package pool

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

const pageSize = 4096

// A pageFinder calls each for every run of pages of b that are private to the
// mapping, as offsets into b.
type pageFinder func(b []byte, each func(from, to int)) error

// findPrivatePages returns a finder that reads /proc/self/pagemap. It is nil where
// that does not work, because there is no /proc or because pages have another
// size. The ioctl PAGEMAP_SCAN of newer kernels is faster, but most decisions
// need no finder at all: see mapping.
var findPrivatePages = sync.OnceValue(func() pageFinder {
	if os.Getpagesize() != pageSize {
		return nil
	}
	file, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil
	}
	if find := readPagemap(file); probe(find) {
		return find
	}
	_ = file.Close()
	return nil
})

// mapProbe maps a private view of a file of zeros with so many pages. The caller
// unmaps it.
func mapProbe(pages int) ([]byte, error) {
	fd, err := unix.MemfdCreate("probe", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if err := unix.Ftruncate(fd, int64(pages*pageSize)); err != nil {
		return nil, err
	}
	return unix.Mmap(fd, 0, pages*pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
}

// probe tries a finder on four pages of a file, two of them changed.
func probe(find pageFinder) bool {
	b, err := mapProbe(4)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Munmap(b) }()
	b[0] = b[3*pageSize] // a page that is only read stays the file's
	b[pageSize], b[2*pageSize] = 1, 1
	found := ""
	err = find(b[pageSize:], func(from, to int) { found += fmt.Sprint(from/pageSize, "-", to/pageSize, ";") })
	return err == nil && found == "0-2;"
}

// Bits of an entry of /proc/self/pagemap
// (https://docs.kernel.org/admin-guide/mm/pagemap.html).
const (
	entryFile    = 1 << 61
	entrySwapped = 1 << 62
	entryPresent = 1 << 63
)

var entries = sync.Pool{New: func() any { return new([512 * 8]byte) }}

// readPagemap returns a finder that reads the page map in file.
func readPagemap(file *os.File) pageFinder {
	return func(b []byte, each func(from, to int)) error {
		v := entries.Get().(*[512 * 8]byte)
		defer entries.Put(v)
		first := int64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) / pageSize
		from, pages := -1, len(b)/pageSize
		for page := 0; page < pages; {
			n := min(pages-page, len(v)/8)
			if _, err := file.ReadAt(v[:n*8], (first+int64(page))*8); err != nil {
				return fmt.Errorf("reading the page map: %w", err)
			}
			for i := range n {
				e := binary.NativeEndian.Uint64(v[i*8:])
				private := e&entryFile == 0 && e&(entryPresent|entrySwapped) != 0
				if private && from < 0 {
					from = page + i
				}
				if !private && from >= 0 {
					each(from*pageSize, (page+i)*pageSize)
					from = -1
				}
			}
			page += n
		}
		if from >= 0 {
			each(from*pageSize, pages*pageSize)
		}
		return nil
	}
}
