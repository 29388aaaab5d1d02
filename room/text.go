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

// fingerprint hashes a text, FNV-1a, so that case, space and punctuation do
// not count.
func fingerprint(text string) uint64 {
	h := uint64(14695981039346656037)
	for _, r := range text {
		switch {
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		case r < utf8.RuneSelf:
			continue
		case unicode.IsLetter(r), unicode.IsDigit(r):
			r = unicode.ToLower(r)
		default:
			continue
		}
		h = (h ^ uint64(r)) * 1099511628211
	}
	return h
}

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
