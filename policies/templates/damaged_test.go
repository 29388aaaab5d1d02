package templates_test

import (
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// TestDamaged: an input with changed, inserted or deleted bytes is answered or
// rejected within a bounded amount of fuel, and never traps.
func TestDamaged(t *testing.T) {
	t.Parallel()
	const bytes, most = "\"\\{}[],: 0-tx\n\x00\xff", 2_000_000
	for lang, p := range load(t, "guests", "c", "rust", "assemblyscript") {
		r := rand.New(rand.NewSource(3))
		for range 2000 {
			in := oddInput(r)
			input := in.AppendJSON(nil)
			for range 1 + r.Intn(4) {
				at, c := r.Intn(len(input)), bytes[r.Intn(len(bytes))]
				switch r.Intn(3) {
				case 0:
					input[at] = c
				case 1:
					input = slices.Delete(input, at, at+1)
				case 2:
					input = slices.Insert(input, at, c)
				}
			}
			res, err := p.Run(t.Context(), input)
			if res.Fuel > most || err != nil && !strings.Contains(err.Error(), "roompolicy_decide returned 0") {
				t.Fatalf("%s: %v after %d units of fuel: %q", lang, err, res.Fuel, input)
			}
		}
	}
}
