package term

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWrap(t *testing.T) {
	for _, s := range []string{"", "a", "one two three", strings.Repeat("x", 40) + " é é é", strings.Repeat("word ", 50)} {
		for _, line := range Wrap(s, 12) {
			if n := utf8.RuneCountInString(line); n > 12 || n == 0 {
				t.Errorf("%q has %d characters", line, n)
			}
		}
	}
	for s, want := range map[string]string{
		"one two  three four": `["one two" "three" "four"]`,
		"half 50.0 % of it":   `["half" "50.0 % of" "it"]`,
		"abcdefghijkl end":    `["abcdefgh…" "end"]`,
	} {
		if got := fmt.Sprintf("%q", Wrap(s, 9)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
