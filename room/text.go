package room

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func itoa[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// count renders n of a noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// fingerprint hashes a text so that case, space and punctuation do not count:
// eight letters at a time, as FNV-1a does one. Texts are not out to deceive
// it; who wants to repeat itself unnoticed changes a word. It takes letters
// and leaves out the rest without a branch, which in running text nobody could
// foretell.
func fingerprint(text string) uint64 {
	var sum, word uint64
	var bits uint // of word that are in use
	for i := 0; i < len(text); i++ {
		b := text[i]
		if b >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			if i += size - 1; unicode.IsLetter(r) || unicode.IsDigit(r) {
				sum = mix(mix(sum, word), uint64(unicode.ToLower(r)))
				word, bits = 0, 0
			}
			continue
		}
		l := letters[b]
		word = word<<(l.bits&63) | l.as
		if bits += l.bits; bits == 64 {
			sum = mix(sum, word)
			word, bits = 0, 0
		}
	}
	return mix(sum, word)
}

func mix(sum, word uint64) uint64 {
	sum = (sum ^ word) * 0x9E3779B97F4A7C15
	return sum ^ sum>>29
}

type letter struct {
	as   uint64
	bits uint
}

// letters says what a fingerprint takes of each ASCII byte: letters in lower
// case and digits.
var letters = func() (t [utf8.RuneSelf]letter) {
	for b := range t {
		if r := rune(b); unicode.IsLetter(r) || unicode.IsDigit(r) {
			t[b] = letter{uint64(unicode.ToLower(r)), 8}
		}
	}
	return t
}()

// FirstSentence returns the first sentence of text on one line, cut to max
// bytes at a character, with an ellipsis when anything is missing.
func FirstSentence(text string, max int) string {
	text = strings.TrimSpace(text)
	line := text[:min(len(text), 4*max+8)]
	if i := strings.IndexAny(line, "\n\r"); i >= 0 {
		line = line[:i]
	}
	for i := 0; i+1 < len(line); i++ {
		if (line[i] == '.' || line[i] == '!' || line[i] == '?') && line[i+1] == ' ' {
			line = line[:i+1]
			break
		}
	}
	line = strings.TrimSpace(line)
	if len(line) > max {
		line = cut(line, max-len("…")) + "…"
	} else if len(line) < len(text) {
		line += " …"
	}
	return line
}

// cut returns at most n bytes of s, whole characters only.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:max(n, 0)]
}
