package endpoint

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestMark compares the search for a boundary with a simple one, in texts of few letters, so
// that many parts of the boundary occur.
func TestMark(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	letters := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "abAB1"[random.IntN(5)]
		}
		return string(b)
	}
	found := 0
	for range 20_000 {
		mark, text := letters(1+random.IntN(6)), letters(random.IntN(40))
		m := newMark(mark)
		got, want := m.index(text), strings.Index(lowerASCII(text), lowerASCII(mark))
		if got != want {
			t.Fatalf("%q is at %d of %q, want %d", mark, got, text, want)
		}
		if got >= 0 {
			found++
		}
	}
	if found == 0 || found == 20_000 {
		t.Errorf("found in %d texts", found)
	}
}

// TestCleanLineTidy checks that a line which is not split into words equals one that is.
func TestCleanLineTidy(t *testing.T) {
	for _, s := range []string{"", " ", "a", "a b", " a", "a ", "a  b", "a\tb", "a\nb", "a\x7fb", "a\x1bb", "ü b", "a\u00a0b", "~!"} {
		want := strings.Join(strings.Fields(Clean(s)), " ")
		if got := CleanLine(s, 80); got != want {
			t.Errorf("CleanLine(%q) = %q, want %q", s, got, want)
		}
	}
}
