package room

import (
	"hash/fnv"
	"strconv"
	"strings"
	"unicode"
)

func itoa[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// count renders n of a noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// fingerprint hashes a text so that case, space and punctuation do not count.
func fingerprint(text string) uint64 {
	h := fnv.New64a()
	var buf [4]byte
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			h.Write(append(buf[:0], string(unicode.ToLower(r))...))
		}
	}
	return h.Sum64()
}

// FirstSentence returns the first sentence of text on one line, cut to max
// bytes at a character, with an ellipsis when anything is missing.
func FirstSentence(text string, max int) string {
	text = strings.TrimSpace(text)
	line := text
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
