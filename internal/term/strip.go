// Package term makes untrusted text safe to show on a terminal. The text of an
// agent must not move the cursor, change colours, set the title, or appear in
// another order than it is stored.
package term

import (
	"strings"
	"unicode/utf8"
)

// Strip returns s without terminal control sequences, control characters
// other than tab and line feed, bidirectional controls and invisible
// characters. Invalid UTF-8 becomes U+FFFD. Text without any of these is
// returned unchanged, without a copy.
func Strip(s string) string {
	if clean(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if n := sequence(s[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !unsafeRune(r) {
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// Line is Strip for text that must stay on one line. Line feeds and tabs become
// spaces.
func Line(s string) string {
	if s = Strip(s); !strings.ContainsAny(s, "\n\t") {
		return s // without the replacer, which reads slowly
	}
	return spaces.Replace(s)
}

// spaces is safe for concurrent use.
var spaces = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ")

// clean reports whether s needs no change, as most text does.
func clean(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || unsafeRune(r) {
			return false
		}
	}
	return true
}

// unsafeRune reports whether r is invisible or controls the terminal.
func unsafeRune(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r <= 0x9f: // C0, DEL, C1
		return true
	case r == 0xad, r == 0x61c, r == 0x180e, r == 0xfeff:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true // zero width, line separators, embeddings, isolates
	case r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe007f: // annotations, tags
		return true
	}
	return false
}

// maxSequence bounds the length of a control sequence.
const maxSequence = 4096

// sequence returns the length of the control sequence that s starts with, or
// 0. A string sequence (title, hyperlink, device control) counts only if it ends
// within the bound, so that text after an unfinished one stays readable.
func sequence(s string) int {
	kind, n := introducer(s)
	switch kind {
	case '[':
		return csi(s, n)
	case ']', 'P', 'X', '^', '_':
		return str(s, n)
	}
	return 0
}

// introducer reads ESC and a letter, or the equivalent C1 control.
func introducer(s string) (kind byte, n int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch {
	case s[0] == 0x1b:
		return s[1], 2
	case s[0] == 0xc2 && s[1] >= 0x90 && s[1] <= 0x9f: // U+0090 to U+009F
		return s[1] - 0x40, 2
	}
	return 0, 0
}

// csi returns the length of a CSI sequence: parameters, intermediates and the
// final byte.
func csi(s string, n int) int {
	for i := n; i < len(s) && i < maxSequence; i++ {
		switch c := s[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x3f:
			return i
		}
	}
	return n
}

// str returns the length of a string sequence up to BEL or the string terminator,
// or 0 if it does not end.
func str(s string, n int) int {
	for i := n; i < len(s) && i < maxSequence; i++ {
		switch {
		case s[i] == 0x07:
			return i + 1
		case strings.HasPrefix(s[i:], "\x1b\\"), strings.HasPrefix(s[i:], "\u009c"):
			return i + 2
		case s[i] == '\n':
			return 0
		}
	}
	return 0
}
