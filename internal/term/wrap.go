package term

import (
	"strings"
	"unicode/utf8"
)

// Width is the number of characters in a line of a report for a terminal.
const Width = 80

// Shorten returns s with at most n characters.
func Shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// JoinPercent returns s with a no-break space between each number and its %, for pages,
// whose lines the browser breaks.
func JoinPercent(s string) string { return strings.ReplaceAll(s, " %", "\u00a0%") }

// Wrap breaks s at spaces into lines of at most n characters. Longer words are cut.
// A number and its % stay together.
func Wrap(s string, n int) []string {
	var lines, words []string
	for _, word := range strings.Fields(s) {
		if last := len(words) - 1; last >= 0 && strings.HasPrefix(word, "%") {
			words[last] += " " + word
			continue
		}
		words = append(words, word)
	}
	line, size := "", 0
	for _, word := range words {
		letters := utf8.RuneCountInString(word)
		switch {
		case letters > n:
			word, letters = Shorten(word, n), n
			fallthrough
		case size > 0 && size+1+letters > n:
			if size > 0 {
				lines = append(lines, line)
			}
			line, size = word, letters
		case size == 0:
			line, size = word, letters
		default:
			line, size = line+" "+word, size+1+letters
		}
	}
	if size > 0 {
		lines = append(lines, line)
	}
	return lines
}
