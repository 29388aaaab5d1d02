package human

import "testing"

func TestTokens(t *testing.T) {
	hundreds := func(n int64) string { return string(rune('0'+n/100)) + "xx" }
	for want, got := range map[string]string{
		"0 tokens":                               Tokens(0, 0, 0, false, nil),
		"1030 tokens (900 cached, 10 reasoning)": Tokens(1030, 900, 10, false, nil),
		"~1030 tokens (10 reasoning)":            Tokens(1030, 0, 10, true, nil),
		"9xx tokens (8xx cached)":                Tokens(950, 800, 0, false, hundreds),
		"~0.50":                                  Rough(Money(500_000), true),
		"12":                                     Rough("12", false),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
