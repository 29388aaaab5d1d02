package adaptive

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestDigits: bytes come back, with less than six zeros behind them, from text
// that JSON needs no escape for.
func TestDigits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, "bytes")
		text := digits(b)
		if i := strings.IndexFunc(text, func(c rune) bool { return c < '0' || c > 'p' || c == '\\' }); i >= 0 {
			t.Fatalf("%x is %s, with %q", b, text, text[i])
		}
		back, ok := appendBytes(nil, []byte(text))
		if rest := bytes.TrimPrefix(back, b); !ok || !bytes.HasPrefix(back, b) || len(rest) >= sixBytes || len(bytes.Trim(rest, "\x00")) > 0 {
			t.Fatalf("%x is %s, which is %x, %v", b, text, back, ok)
		}
	})
}

// TestDigitsAreChecked: no character outside of '0' to 'p' stands for anything.
func TestDigitsAreChecked(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		for at := range eightDigits {
			text := []byte("0000ooop")
			text[at] = byte(c)
			if _, ok := appendBytes(nil, text); ok != (c >= '0' && c <= 'p') {
				t.Errorf("%q is taken: %v", text, ok)
			}
		}
	}
	for n := 1; n < eightDigits; n++ {
		if _, ok := appendBytes(nil, bytes.Repeat([]byte("0"), n)); ok {
			t.Errorf("%d digits are taken", n)
		}
	}
}
