package term

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestStrip(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "Grüße, 世界 🙂\n\tindented", "Grüße, 世界 🙂\n\tindented"},
		{"colour", "a\x1b[31;1mred\x1b[0mb", "aredb"},
		{"cursor", "safe\x1b[2J\x1b[Hgone", "safegone"},
		{"title", "a\x1b]0;owned\x07b", "ab"},
		{"hyperlink", "\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"unfinished title keeps the text", "a\x1b]0;still here", "a]0;still here"},
		{"title over a line end keeps the text", "a\x1b]0;x\nnext\x07", "a]0;x\nnext"},
		{"device control", "a\x1bPq#0\x1b\\b", "ab"},
		{"8-bit CSI", "a\u009b31mb", "ab"},
		{"8-bit OSC", "a\u009d0;t\u009cb", "ab"},
		{"bare escape", "a\x1b", "a"},
		{"carriage return", "approved\rrejected", "approvedrejected"},
		{"backspace", "rm -rf\b\b\b", "rm -rf"},
		{"bidi override", "user\u202etxt.exe", "usertxt.exe"},
		{"isolates", "\u2066a\u2069", "a"},
		{"zero width", "ad\u200bmin\ufeff", "admin"},
		{"tags", "hi\U000e0041\U000e0042", "hi"},
		{"NUL", "a\x00b", "ab"},
		{"invalid UTF-8", "a\xffb", "a\ufffdb"},
	} {
		if got := Strip(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLine(t *testing.T) {
	if got := Line("a\r\nb\nc\td\x1b[1m"); got != "a b c d" {
		t.Errorf("%q", got)
	}
}

func FuzzStrip(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31mb", "\x1b]0;", "\u009b\u009c", "\x1b\x1b[m\x1b", "\xc2\x9b1", "a\xffb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Strip(s)
		if !utf8.ValidString(got) {
			t.Fatalf("not UTF-8: %q", got)
		}
		if i := strings.IndexFunc(got, unsafeRune); i >= 0 {
			t.Fatalf("unsafe %q at %d of %q", got[i], i, got)
		}
		if again := Strip(got); again != got {
			t.Fatalf("not idempotent: %q then %q", got, again)
		}
	})
}
