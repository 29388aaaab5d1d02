package policy

import (
	"unicode"
	"unicode/utf8"
)

// Fits counts the domains of a that text mentions and returns the first.
func (a *Agent) Fits(text string) (n int, domain string) {
	for _, d := range a.Domains {
		if Mentions(text, d) {
			if n++; n == 1 {
				domain = d
			}
		}
	}
	return n, domain
}

// Mentions reports whether text holds term as a word or words of its own:
// neither a letter nor a digit adjoins it. ASCII letters match in either case.
func Mentions(text, term string) bool {
	if term == "" {
		return false
	}
	small, large := lower(term[0]), upper(term[0])
	for i := 0; i+len(term) <= len(text); i++ {
		if c := text[i]; c != small && c != large {
			continue
		}
		if foldEqual(text[i:i+len(term)], term) && alone(text, i, i+len(term)) {
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

// alone reports whether text[from:to] stands between non-words.
func alone(text string, from, to int) bool {
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
