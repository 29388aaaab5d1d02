package spawn

import "testing"

func TestTrimLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                                       "",
		"plain":                                  "plain",
		" {\"a\": 1}\t\r":                        `{"a": 1}`,
		"\xef\xbb\xbf{}\x00\x00":                 "{}",
		"\x00\xef\xbb\xbf \x1b[2K{}\x1b[0m":      "{}",
		"\x1b]0;title\x07\x1b[?25l{\"a\"}\x1b(B": `{"a"}`,
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\": "link",
		"a\x1b[31mb\x1b[0mc":                       "abc",
		"an unfinished \x1b[31":                    "an unfinished 31",
		"\xff\xfe":                                 "\xff\xfe",
	} {
		if got := string(TrimLine([]byte(in))); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
