package endpoint

import (
	"errors"
	"testing"
)

func TestPlainAnswer(t *testing.T) {
	for _, c := range []struct {
		text, outcome, said string
		err                 error
	}{
		{"hello\n", Said, "hello", nil},
		{" PASS\n", Passed, "", nil},
		{"I pass.", Said, "I pass.", nil},
		{"pass", Said, "pass", nil},
		{"", "", "", ErrAgent},
		{"\n\x1b[31m\u200b\n", "", "", ErrAgent},
		{"12345678901", "", "", ErrTooLarge},
		{"äöüäöüäöüä", Said, "äöüäöüäöüä", nil},
	} {
		r, err := PlainAnswer(c.text, Prompt{MaxOutputChars: 10})
		if r.Outcome != c.outcome || r.Text != c.said || !errors.Is(err, c.err) {
			t.Errorf("%q: got %+v and %v, want %s %q and %v", c.text, r, err, c.outcome, c.said, c.err)
		}
	}
}
