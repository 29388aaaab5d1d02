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

// Bounds of what is read.
const (
	MaxLine = 32 << 20 // one line: a whole conversation of the neutral form
	MaxFile = 4 << 30  // one file, after decompression
)

// lineReader reads a file line by line. It sees through gzip.
type lineReader struct {
	name       string // for errors
	r          *bufio.Reader
	remaining  int64
	n          int // of the line last returned, from 1
	buf        []byte
	unreadLine bool // the line last returned is to be returned again
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
		return nil, l.readError("starts like gzip and is none", err)
	}
	l.r = bufio.NewReaderSize(z, 64<<10)
	return l, nil
}

// next returns the next line without its line break, good until the next
// call. Lines of white space alone are skipped. At the end it is io.EOF.
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

// unread makes next return line, which it has just returned, once more.
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

// readError returns a problem with the line last returned.
func (l *lineReader) readError(what string, err error) error {
	return &problem.Error{
		Code: "TRANSCRIPT-READ", What: what, Where: l.where(), Err: err,
		Fix: "check that the file is a whole transcript, as `moot transcript export` or its source wrote it",
	}
}

// chainError returns a problem with the chain at the event of the line last
// returned. Its commitment is made of what the line holds, so body, salt and
// hash cannot be told apart.
func (l *lineReader) chainError(seq uint64) error {
	return &problem.Error{
		Code: "TRANSCRIPT-CHAIN", What: fmt.Sprintf("the chain breaks at event %d: it is not what was exported, or not in its place", seq),
		Where: l.where(), Kind: log.ErrCorrupt, Fix: "export the room again from its log; do not trust this copy from here on",
	}
}

func (l *lineReader) where() string {
	if l.n == 0 {
		return l.name
	}
	return fmt.Sprintf("%s:%d", l.name, l.n)
}
