package command

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// FuzzAnswer checks that arbitrary output gives a reply within all limits, or an
// error.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{"", "PASS\n", "hello", "\x1b[31mred\x1b[0m", "\x1b]0;title", "\xff\xfe", "a\r\nb\rc", "\u202e\u200b", strings.Repeat("ü", 21), "\x00PASS\x00", "PA\x1bSS", "\x1b\x1b[31m[0m"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		r, err := answer(out, endpoint.Prompt{MaxOutputChars: 20})
		switch {
		case err != nil:
			if !errors.Is(err, endpoint.ErrAgent) && !errors.Is(err, endpoint.ErrTooLarge) {
				t.Fatalf("an error of unknown kind: %v", err)
			}
		case r.Outcome != endpoint.Said && r.Outcome != endpoint.Passed,
			(r.Outcome == endpoint.Said) != (strings.TrimSpace(r.Text) != ""),
			utf8.RuneCountInString(r.Text) > 20, !utf8.ValidString(r.Text), r.Text != endpoint.Clean(r.Text), endpoint.IsPass(r.Text):
			t.Fatalf("bad reply %+v", r)
		}
	})
}
