package pool

import (
	"encoding/binary"
	"errors"
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

// findPrivatePages returns the fastest finder of this kernel: one ioctl since
// Linux 6.7, reading /proc/self/pagemap before. It is nil where neither works,
// because there is no /proc or because pages have another size.
var findPrivatePages = sync.OnceValue(func() pageFinder {
	if os.Getpagesize() != pageSize {
		return nil
	}
	file, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil
	}
	p := &pagemap{file, file.Fd()}
	for _, find := range []pageFinder{p.scan, p.read} {
		if probe(find) {
			return find
		}
	}
	_ = file.Close()
	return nil
})

// probe tries a finder on four pages of a file, two of them changed.
func probe(find pageFinder) bool {
	fd, err := unix.MemfdCreate("probe", unix.MFD_CLOEXEC)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if unix.Ftruncate(fd, 4*pageSize) != nil {
		return false
	}
	b, err := unix.Mmap(fd, 0, 4*pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
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

type pagemap struct {
	file *os.File
	fd   uintptr
}

var errStuck = errors.New("the page map ends before the memory")

// Of linux/fs.h, since Linux 6.7
// (https://docs.kernel.org/admin-guide/mm/pagemap.html).
const (
	pagemapScan   = 0xC0606610 // PAGEMAP_SCAN
	pageIsFile    = 1 << 2
	pageIsPresent = 1 << 3
	pageIsSwapped = 1 << 4
)

type scanArgs struct {
	size, flags, start, end, walkEnd, vec, vecLen, maxPages uint64
	inverted, mask, anyOf, returned                         uint64
}

type region struct{ start, end, _ uint64 }

var regions = sync.Pool{New: func() any { return new([128]region) }}

func (p *pagemap) scan(b []byte, each func(from, to int)) error {
	v := regions.Get().(*[128]region)
	defer regions.Put(v)
	base := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	for at, end := base, base+uint64(len(b)); at < end; {
		a := scanArgs{
			size: uint64(unsafe.Sizeof(scanArgs{})), start: at, end: end,
			vec: uint64(uintptr(unsafe.Pointer(v))), vecLen: uint64(len(v)),
			inverted: pageIsFile, mask: pageIsFile, anyOf: pageIsPresent | pageIsSwapped, returned: pageIsFile,
		}
		n, _, e := unix.Syscall(unix.SYS_IOCTL, p.fd, pagemapScan, uintptr(unsafe.Pointer(&a)))
		if e != 0 {
			return fmt.Errorf("scanning the page map: %w", e)
		}
		for _, r := range v[:n] {
			each(int(r.start-base), int(r.end-base))
		}
		if a.walkEnd <= at {
			return errStuck
		}
		at = a.walkEnd
	}
	return nil
}

// Bits of an entry of /proc/self/pagemap.
const (
	entryFile    = 1 << 61
	entrySwapped = 1 << 62
	entryPresent = 1 << 63
)

var entries = sync.Pool{New: func() any { return new([512 * 8]byte) }}

func (p *pagemap) read(b []byte, each func(from, to int)) error {
	v := entries.Get().(*[512 * 8]byte)
	defer entries.Put(v)
	first := int64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) / pageSize
	from := -1
	pages := len(b) / pageSize
	for page := 0; page < pages; {
		n := min(pages-page, len(v)/8)
		if _, err := p.file.ReadAt(v[:n*8], (first+int64(page))*8); err != nil {
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
