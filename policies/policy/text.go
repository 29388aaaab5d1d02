package policy

import (
	"unicode"
	"unicode/utf8"
)

// clip cuts s to at most n bytes, between runes, and marks a cut with "...".
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n] + "..."
}

// foldEqual reports whether a and b are equal but for the case of ASCII
// letters.
func foldEqual(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c-'A' < 26 {
		return c | 0x20
	}
	return c
}

// Mentions reports whether text contains term as whole words: no letter or
// digit is directly before or after it. It ignores the case of ASCII letters.
func Mentions(text, term string) bool {
	if term == "" {
		return false
	}
	small, large := lower(term[0]), upper(term[0])
	for i := 0; i+len(term) <= len(text); i++ {
		if c := text[i]; c != small && c != large {
			continue
		}
		if foldEqual(text[i:i+len(term)], term) && isolated(text, i, i+len(term)) {
			return true
		}
	}
	return false
}

func upper(c byte) byte {
	if c-'a' < 26 {
		return c &^ 0x20
	}
	return c
}

// isolated reports whether no letter or digit adjoins text[from:to].
func isolated(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return !wordRune(before) && !wordRune(after)
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r-'0' < 10 && r >= '0' || r|0x20 >= 'a' && r|0x20 <= 'z'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
