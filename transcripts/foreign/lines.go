package foreign

import (
	"bytes"
	"iter"
	"strings"
	"unicode/utf8"
)

// lines yields the lines of a text, numbered from 1, without what ends them.
// Bytes that are no UTF-8 are replaced by U+FFFD and counted.
func (t *talk) lines(raw []byte) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range bytes.SplitSeq(raw, []byte("\n")) {
			n++
			line = bytes.TrimSuffix(line, []byte("\r"))
			s := string(line)
			if !utf8.Valid(line) {
				t.change("line with bytes that are no UTF-8, replaced")
				s = strings.ToValidUTF8(s, "\uFFFD")
			}
			if !yield(n, s) {
				return
			}
		}
	}
}
