package spawn

import (
	"bufio"
	"errors"
	"io"
)

// ErrLong reports a line over the limit, which was skipped.
var ErrLong = errors.New("spawn: line over the limit")

const keepBuffer = 64 << 10 // a larger buffer is released after use

// Lines reads lines of bounded length. Unlike bufio.Scanner it continues after a
// longer line, which it skips in constant memory.
type Lines struct {
	r   *bufio.Reader
	max int
	buf []byte
	cut bool
}

// NewLines returns a reader of lines of at most limit bytes, without the newline.
func NewLines(r io.Reader, limit int) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, 32<<10), max: limit}
}

// Cut reports whether the input ended before the latest line did.
func (l *Lines) Cut() bool { return l.cut }

// Next returns the next line without its newline; it is valid until the next
// call. A last line without newline is returned too. Then the error of the reader
// follows, io.EOF at the end. The error is ErrLong for a longer line.
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
