package spawn

import (
	"bufio"
	"errors"
	"io"
)

// ErrLong says that a line was over the limit and has been skipped.
var ErrLong = errors.New("spawn: line over the limit")

const keepBuffer = 64 << 10 // a larger buffer is given back after use

// Lines reads lines of a bounded length. Unlike a bufio.Scanner it survives a
// longer one: that line is skipped in constant memory, and the next is read.
type Lines struct {
	r   *bufio.Reader
	max int
	buf []byte
	cut bool
}

// NewLines returns a reader of lines of at most limit bytes, the newline not
// counted.
func NewLines(r io.Reader, limit int) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, 32<<10), max: limit}
}

// Cut reports whether the input ended before the latest line did.
func (l *Lines) Cut() bool { return l.cut }

// Next returns the next line without its newline; it is valid until the next
// call. A last line without newline is returned too, and then the reader's
// error, io.EOF at the end. ErrLong stands in the place of a longer line.
func (l *Lines) Next() ([]byte, error) {
	if cap(l.buf) > keepBuffer {
		l.buf = nil
	}
	l.buf = l.buf[:0]
	var long, any bool
	for {
		part, err := l.r.ReadSlice('\n')
		any = any || len(part) > 0
		if err == nil {
			part = part[:len(part)-1]
		}
		if long = long || len(l.buf)+len(part) > l.max; long {
			l.buf = nil
		} else {
			l.buf = append(l.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !any:
			return nil, err
		}
		l.cut = err != nil
		if long {
			return nil, ErrLong
		}
		return l.buf, nil
	}
}
