package endpoint

import (
	"encoding/binary"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escapes matches terminal control sequences: CSI, then finished OSC, DCS, SOS, PM and
// APC with their terminator, then the two-byte ones (ECMA-48).
var escapes = regexp.MustCompile(
	`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]` +
		`|(?:\x1b[\]PX^_]|[\x{90}\x{98}\x{9d}-\x{9f}])[^\x07\x1b\x{9c}\n]*(?:\x07|\x1b\\|\x{9c})` +
		`|\x1b[ -/]*[0-~]?`)

// lineBreaks replaces every line break of Unicode by a newline. A break that only
// some readers recognise could start a forged line.
var lineBreaks = strings.NewReplacer(
	"\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// Clean returns s without invisible characters that have an effect: terminal
// sequences, control characters other than tab and newline, bidirectional and
// zero-width controls, tags and variation selectors. Invalid UTF-8 becomes
// U+FFFD, and every kind of line break becomes a newline. Clean is for text that
// is shown or sent to a model; logs keep the bytes.
func Clean(s string) string {
	if plain(s) {
		return s
	}
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	s = lineBreaks.Replace(escapes.ReplaceAllString(s, ""))
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && invisible(r) {
			return -1
		}
		return r
	}, s)
}

// CleanLine is [Clean] for a text of one line: line breaks become spaces, and a
// text over limit runes is cut.
func CleanLine(s string, limit int) string {
	if !tidy(s) {
		s = strings.Join(strings.Fields(Clean(s)), " ")
	}
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "…"
}

// tidy reports whether s is printable ASCII without spaces at its ends or next to each other,
// as most names are.
func tidy(s string) bool {
	space := true
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c >= 0x7f || c == ' ' && space {
			return false
		}
		space = c == ' '
	}
	return s == "" || !space
}

// oneLine is [Clean] for a text of one line that is not cut.
func oneLine(s string) string {
	if strings.IndexByte(s, '\n') < 0 && strings.IndexByte(s, '\t') < 0 && plain(s) { // ContainsAny makes a set each time
		return s
	}
	return CleanLine(s, len(s))
}

// plain reports whether Clean has nothing to do. That is so for most text.
func plain(s string) bool {
	for i := 0; i < len(s); {
		if len(s)-i >= 8 && printable([]byte(s[i:i+8])) {
			i += 8
			continue
		}
		c := s[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return false
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError || !common(r) && (invisible(r) || r == 0x2028 || r == 0x2029) {
			return false
		}
		i += n
	}
	return true
}

// printable reports whether the first eight bytes of b are printable ASCII. It examines
// them as one word. Without a carry out of a byte, its highest bit is set in the result
// if it is less than a space, DEL or not ASCII. The lowest such byte has no carry below it.
func printable(b []byte) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	w := binary.LittleEndian.Uint64(b)
	return (w|(w-' '*ones)|(w+ones))&high == 0
}

// common reports whether r is in the main blocks of Latin, Greek, Cyrillic,
// Chinese or Korean text or is a dash, a quotation mark or an ellipsis, which have no
// invisible characters. It saves the look-up in the tables of invisible.
func common(r rune) bool {
	return r >= 0xa0 && r < 0x300 && r != 0xad || r >= 0x2010 && r < 0x2028 || r >= 0x370 && r < 0x600 || r >= 0x4e00 && r < 0xa000 || r >= 0xac00 && r < 0xd7a4
}

func invisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Quote quotes a short foreign text within a sentence of ours: cleaned, and
// cut after 80 characters.
func Quote(s string) string { return strconv.Quote(CleanLine(s, 80)) }
