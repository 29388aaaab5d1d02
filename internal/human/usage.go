package human

import (
	"strconv"
	"strings"
)

// Rough marks a number with ~ if it is an estimate, in whole or in part.
func Rough(number string, estimated bool) string {
	if estimated {
		return "~" + number
	}
	return number
}

// Tokens writes a number of tokens with those of its parts that are not zero, which
// number formats; nil formats them in full: 1030 tokens (900 cached, 10 reasoning).
func Tokens(all, cached, reasoning int64, estimated bool, number func(int64) string) string {
	if number == nil {
		number = func(n int64) string { return strconv.FormatInt(n, 10) }
	}
	var parts []string
	if cached > 0 {
		parts = append(parts, number(cached)+" cached")
	}
	if reasoning > 0 {
		parts = append(parts, number(reasoning)+" reasoning")
	}
	text := Rough(number(all), estimated) + " tokens"
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return text
}
