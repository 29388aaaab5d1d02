package policy

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestFloatIsShortest: whichever way a number is written, it is the shortest
// that reads back as the same.
func TestFloatIsShortest(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	check := func(f float64) {
		t.Helper()
		for _, f := range []float64{f, -f, math.Nextafter(f, 2), math.Nextafter(f, -2)} {
			if f == 0 || math.Abs(f) >= 1e15 || math.Abs(f) < 1e-6 {
				continue
			}
			if got, want := string(appendFloat(nil, f)), strconv.FormatFloat(f, 'f', -1, 64); got != want {
				t.Fatalf("%s, want %s", got, want)
			}
		}
	}
	for range 20000 {
		check(float64(rng.IntN(1e6)) / 1e6)
		check(float64(rng.Int64N(1e15)) / 1e6)
		check(rng.Float64() * math.Pow(10, float64(rng.IntN(16)-6)))
	}
	for _, f := range []float64{1e-6, 999999999.999999, .1, .5, .000001, .999999, 1.000001, 123.45} {
		check(f)
	}
}
