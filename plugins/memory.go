package plugins

import (
	"bytes"

	"github.com/folkmoot/moot/plugins/wasm"
)

// A memory is the linear memory of one instance. It starts as an image and
// can be put back to it. It satisfies experimental.LinearMemory, and so may be
// used by one goroutine at a time.
type memory struct {
	image  []byte
	buf    []byte // the image's length at least
	most   int    // bytes that it may have
	high   int    // most bytes that it had since the last reset
	denied bool   // asked for more than it may have, since the last reset
	parts  []part // of the image, that are put back; empty when pages knows them
	pages  mapping
	pause  func() // called when the module asks whether it may go on
}

// A part is a run of whole pages of an image. Those of zeros, which is most of
// a small image, are put back without reading it.
type part struct {
	from, to int
	zero     bool
}

// appendParts appends the pages from from to to of an image.
func appendParts(parts []part, image []byte, from, to int) []part {
	for ; from < to; from += imagePage {
		zero := bytes.Equal(image[from:from+imagePage], zeros[:])
		if n := len(parts); n > 0 && parts[n-1].to == from && parts[n-1].zero == zero {
			parts[n-1].to += imagePage
		} else {
			parts = append(parts, part{from, from + imagePage, zero})
		}
	}
	return parts
}

func putBack(buf, image []byte, parts []part) {
	for _, p := range parts {
		if p.zero {
			clear(buf[p.from:p.to])
		} else {
			copy(buf[p.from:p.to], image[p.from:p.to])
		}
	}
}

// largestCopied is the size of image up to which copying all of it is quicker
// than asking the kernel what was written to.
const largestCopied = 256 << 10

func newCopied(image []byte, parts []part, most int) *memory {
	return &memory{image: image, parts: parts, buf: append([]byte(nil), image...), most: most}
}

// Reallocate gives the memory another size; nil when it may not have it.
// Growing by wasm.PausePages is no growing.
func (m *memory) Reallocate(size uint64) []byte {
	if size >= wasm.PausePages<<16 {
		if m.pause != nil {
			m.pause()
		}
		return nil
	}
	if size > uint64(m.most) {
		m.denied = true
		return nil
	}
	n := int(size)
	m.high = max(m.high, n)
	if n > len(m.buf) {
		// Twice as much as before, so that growing page by page stays linear.
		b := make([]byte, min(max(n, 2*len(m.buf)), m.most))
		copy(b, m.buf)
		m.buf = b
	}
	return m.buf[:n:n]
}

// Free gives back what the operating system lent.
func (m *memory) Free() {
	if m.pages.release(m.buf) {
		m.buf = nil
	}
}

// mostGrown is by how much a memory may have grown to be used again. Zeroing
// more costs as much as a new one, and keeping it costs memory.
const mostGrown = 1 << 20

// outgrown tells that a memory is not worth putting back.
func (m *memory) outgrown() bool { return m.high > len(m.image)+mostGrown }

// reset puts the memory back to its image; its size is for shrink to put back.
// After an error it must not be used again.
func (m *memory) reset() error {
	m.denied = false
	if m.high > len(m.image) {
		clear(m.buf[len(m.image):m.high])
	}
	m.high = len(m.image)
	if !m.pages.used {
		putBack(m.buf, m.image, m.parts)
		return nil
	}
	return m.pages.restore(m.buf[:len(m.image)], m.image)
}
