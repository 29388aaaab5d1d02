package transcripts

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
)

// Bounds of the input.
const (
	MaxLine = 32 << 20 // bytes of a line, which can be a whole conversation
	MaxFile = 4 << 30  // bytes of a file, after decompression
)

// A lineReader reads a file line by line and decompresses gzip.
type lineReader struct {
	name       string // for errors
	r          *bufio.Reader
	remaining  int64
	n          int // number of the last line, from 1
	buf        []byte
	unreadLine bool // next returns buf again
}

// gzipMagic starts every gzip file, whatever its name.
var gzipMagic = []byte{0x1f, 0x8b}

func newLineReader(r io.Reader, name string) (*lineReader, error) {
	l := &lineReader{name: name, r: bufio.NewReaderSize(r, 64<<10), remaining: MaxFile}
	head, err := l.r.Peek(len(gzipMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, l.readError("cannot be read", err)
	}
	if !bytes.Equal(head, gzipMagic) {
		return l, nil
	}
	z, err := gzip.NewReader(l.r)
	if err != nil {
		return nil, l.readError("starts like gzip but is not", err)
	}
	l.r = bufio.NewReaderSize(z, 64<<10)
	return l, nil
}

// next returns the next line without its line break. It is valid until the next
// call. Blank lines are skipped. The error at the end is io.EOF.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.read()
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return line, nil
		}
	}
}

// unread makes next return line again.
func (l *lineReader) unread(line []byte) { l.buf, l.unreadLine = line, true }

func (l *lineReader) read() ([]byte, error) {
	if l.unreadLine {
		l.unreadLine = false
		return l.buf, nil
	}
	l.buf = l.buf[:0]
	l.n++
	for {
		part, err := l.r.ReadSlice('\n')
		l.buf = append(l.buf, part...)
		l.remaining -= int64(len(part))
		switch {
		case len(l.buf) > MaxLine:
			return nil, l.readError(fmt.Sprintf("line is longer than %d MiB", MaxLine>>20), nil)
		case l.remaining < 0:
			return nil, l.readError(fmt.Sprintf("file is larger than %d GiB", MaxFile>>30), nil)
		case err == nil, errors.Is(err, io.EOF) && len(l.buf) > 0:
			return bytes.TrimRight(l.buf, "\r\n"), nil
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, l.readError("cannot be read", err)
		}
	}
}

// readError returns an error at the last line.
func (l *lineReader) readError(what string, err error) error {
	return &problem.Error{
		Code: "TRANSCRIPT-READ", What: what, Where: l.where(), Err: err,
		Fix: "check that the file is a complete transcript, as written by `moot transcript export` or its source",
	}
}

// chainError returns an error for a broken hash chain at the last line. It cannot
// tell whether the event, the salt or the hash was changed.
func (l *lineReader) chainError(seq uint64) error {
	return &problem.Error{
		Code: "TRANSCRIPT-CHAIN", What: fmt.Sprintf("the chain breaks at event %d: the event was changed or moved", seq),
		Where: l.where(), Kind: log.ErrCorrupt, Fix: "export the room again from its log; do not trust this copy from here on",
	}
}

func (l *lineReader) where() string {
	if l.n == 0 {
		return l.name
	}
	return fmt.Sprintf("%s:%d", l.name, l.n)
}
