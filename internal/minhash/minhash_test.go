package minhash

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func words(s string) []string { return strings.Fields(s) }

func TestSimilarity(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"a b c d e", "a b c d e", 1},
		{"a b c d e f", "a b c d e g", 1.0 / 3}, // abcde of abcde, bcdef and bcdeg
		{"a b", "a b", 1},
		{"a b", "a c", 0},
		{"", "", 0},
		{"a", "", 0},
	} {
		if got := Similarity(Of(words(c.a)), Of(words(c.b))); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%q and %q: %g, want %g", c.a, c.b, got, c.want)
		}
	}
}

// TestEstimate compares the estimate with the Jaccard similarity of all shingles.
func TestEstimate(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		common := rapid.IntRange(0, 600).Draw(rt, "common")
		shingles := func(name string) (all [][]string) {
			for i := range common {
				all = append(all, []string{fmt.Sprint("common", i)})
			}
			for i := range rapid.IntRange(1, 600).Draw(rt, name) {
				all = append(all, []string{fmt.Sprint(name, i)})
			}
			return all
		}
		a, b := shingles("a"), shingles("b")
		exact := float64(common) / float64(len(a)+len(b)-common)
		if got := Similarity(Of(a...), Of(b...)); math.Abs(got-exact) > .25 { // over five standard deviations
			rt.Fatalf("%g, exactly %g", got, exact)
		}
	})
}

// TestNearest compares the index with a search through all sketches that it keeps.
func TestNearest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := Index{Keep: rapid.IntRange(0, 6).Draw(rt, "keep"), From: rapid.SampledFrom([]float64{0, .5, .8}).Draw(rt, "from")}
		var all []Sketch
		for range rapid.IntRange(1, 20).Draw(rt, "texts") {
			s := Of(rapid.SliceOfN(rapid.SampledFrom(words("a b c")), 1, 8).Draw(rt, "text"))
			first := 0
			if x.Keep > 0 {
				first = max(0, len(all)-x.Keep)
			}
			want, best := 0, 0.0
			for i := first; i < len(all); i++ {
				if a := Similarity(s, all[i]); a > best && a >= x.From && 3*shared(s, all[i]) >= len(s) {
					want, best = i, a
				}
			}
			if n, similarity := x.Nearest(s); n != want || similarity != best {
				rt.Fatalf("nearest is %d with %g, want %d with %g", n, similarity, want, best)
			}
			if n := x.Add(s); n != len(all) {
				rt.Fatalf("added as %d, want %d", n, len(all))
			}
			all = append(all, s)
		}
		if x.Keep > 0 && (len(x.sketches) > x.Keep || len(x.holders) > 8*x.Keep) {
			rt.Fatalf("keeps %d sketches and %d hashes", len(x.sketches), len(x.holders))
		}
	})
}

func shared(a, b Sketch) (n int) {
	for _, h := range a {
		for _, g := range b {
			if g == h {
				n++
			}
		}
	}
	return n
}
