package endpoint

import (
	"regexp"
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
func plain(s string) bool {
	for len(s) > 0 {
		for len(s) >= 8 && acts[s[0]]|acts[s[1]]|acts[s[2]]|acts[s[3]]|acts[s[4]]|acts[s[5]]|acts[s[6]]|acts[s[7]] == 0 {
			s = s[8:]
		}
		if s == "" {
			break
		}
		r, n := utf8.DecodeRuneInString(s)
		if acts[s[0]] != 0 && !harmless(r, n) {
			return false
		}
		s = s[n:]
	}
	return true
}

// acts is not 0 for the bytes that need a closer look: controls, DEL and all
// that is not ASCII.
var acts = func() (t [256]uint8) {
	for c := range t {
		if (c < ' ' && c != '\n' && c != '\t') || c >= 0x7f {
			t[c] = 1
		}
	}
	return t
}()

// harmless reports whether Clean keeps a character that acts flags.
func harmless(r rune, size int) bool {
	switch {
	case r < 0xa0, r == '\u2028', r == '\u2029', r == utf8.RuneError && size == 1:
		return false
	case r == '…': // of our own summaries
		return true
	}
	return !invisible(r)
}

func invisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
