package spawn

import (
	"bytes"
	"regexp"
)

var escape = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])`)

var byteOrderMark = []byte("\xef\xbb\xbf")

// StripANSI removes the terminal sequences in b: those of colours, cursors and
// titles. It returns b itself if there are none.
func StripANSI(b []byte) []byte {
	if bytes.IndexByte(b, 0x1b) < 0 {
		return b
	}
	return escape.ReplaceAll(b, nil)
}

// TrimLine removes from a line what programs write around a frame: terminal
// sequences anywhere, and spaces, carriage returns, NULs and a byte order mark at
// both ends.
func TrimLine(line []byte) []byte {
	const blank = "\x00\r\n\t "
	line = bytes.Trim(StripANSI(line), blank)
	return bytes.Trim(bytes.TrimPrefix(line, byteOrderMark), blank)
}
