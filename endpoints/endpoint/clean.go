package endpoint

import (
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

// lineBreaks turns everything that somebody takes for the end of a line into
// one. A break that only some readers see could start a forged line.
var lineBreaks = strings.NewReplacer(
	"\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// Clean returns s without what is not seen but acts: terminal sequences,
// control characters other than tab and newline, bidirectional and zero-width
// controls, tags and variation selectors. Invalid UTF-8 becomes U+FFFD and
// every kind of line break a newline. It is for text that is shown or handed
// to a model; logs keep the bytes.
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

// CleanLine is [Clean] for a text of one line: breaks become spaces, and at
// most limit runes are kept.
func CleanLine(s string, limit int) string {
	s = strings.Join(strings.Fields(Clean(s)), " ")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "…"
}

// plain reports whether Clean has nothing to do, as for nearly every text.
// plain is the fast path: most text has nothing to clean.
func plain(s string) bool {
	for i := 0; i < len(s); {
		if i+8 <= len(s) && printable8(s[i:i+8]) {
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

// printable8 reports whether eight bytes are all from space to tilde, by the
// usual tests for a byte under n and a byte of zero in a word.
func printable8(s string) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56 // one load
	del := x ^ ones*0x7f
	return x&highs == 0 && (x-ones*0x20)&^x&highs == 0 && (del-ones)&^del&highs == 0
}

// common holds for the bulk of Latin, Greek, Cyrillic, Chinese and Korean
// text, where nothing is invisible, and spares the tables.
func common(r rune) bool {
	return r >= 0xa0 && r < 0x300 && r != 0xad || r >= 0x370 && r < 0x600 || r >= 0x4e00 && r < 0xa000 || r >= 0xac00 && r < 0xd7a4
}

func invisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Quote quotes a short foreign text within a sentence of ours: cleaned, and
// cut after 80 characters.
func Quote(s string) string { return strconv.Quote(CleanLine(s, 80)) }
