package inference

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// ratio is the figure hits/decisions.
func ratio(total, out []float64) { out[0] = total[1] / total[0] }

// talks draws units of unequal size. In each the shares of two policies differ
// from unit to unit about their means.
func talks(rng *rand.Rand, n int, means [2]float64) (a, b Rows) {
	for range n {
		decisions := math.Floor(5 + 40*rng.ExpFloat64())
		common := 0.15 * rng.NormFloat64()
		var hits [2]float64
		for j, mean := range means {
			p := min(1, max(0, mean+common+0.1*rng.NormFloat64()))
			for range int(decisions) {
				if rng.Float64() < p {
					hits[j]++
				}
			}
		}
		a, b = append(a, []float64{decisions, hits[0]}), append(b, []float64{decisions, hits[1]})
	}
	return a, b
}

// TestCoverage: 95 % intervals of a share and of a difference hold the true
// value in about 95 % of the samples, for any number of units.
func TestCoverage(t *testing.T) {
	t.Parallel()
	for n, samples := range map[int]int{6: 1000, 10: 1000, 20: 600, 30: 400, 60: 2000, 120: 2000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(n), 5))
			share, difference := 0, 0
			for range samples {
				a, b := talks(rng, n, [2]float64{0.45, 0.55})
				i := Intervals(a, ratio, 1, 400)[0]
				both, f := paired(a, b, ratio, 1)
				share += covered(i, 0.45)
				difference += covered(Intervals(both, f, 1, 400)[0], 0.0995)
			}
			for name, got := range map[string]int{"share": share, "difference": difference} {
				part := float64(got) / float64(samples)
				t.Logf("%d units, %s: %.1f %%", n, name, 100*part)
				if part < 0.935 || part > 0.98 {
					t.Errorf("%d units, %s: %.1f %% of the intervals hold the true value", n, name, 100*part)
				}
			}
		})
	}
}

func covered(i [2]float64, truth float64) int {
	if i[0] <= truth && truth <= i[1] {
		return 1
	}
	return 0
}

// TestUniform: without a difference, a p-value is below x in x of the samples.
func TestUniform(t *testing.T) {
	t.Parallel()
	for n, samples := range map[int]int{6: 2000, 10: 1000, 20: 150, 60: 2000} {
		rng := rand.New(rand.NewPCG(uint64(n), 6))
		var p []float64
		for range samples {
			a, b := talks(rng, n, [2]float64{0.5, 0.5})
			d := Differences(a, b, ratio, 1, 1)[0]
			p = append(p, d.P)
		}
		slices.Sort(p)
		for _, x := range []float64{0.0625, 0.125, 0.25, 0.5} {
			below, _ := slices.BinarySearch(p, x+1e-9)
			if part := float64(below) / float64(samples); math.Abs(part-x) > 3.5*math.Sqrt(x*(1-x)/float64(samples)) {
				t.Errorf("%d units: %.3f of the p-values are at most %v", n, part, x)
			}
		}
	}
}

// TestPower: a difference as large as the detectable one is found in about 80 %
// of the samples.
func TestPower(t *testing.T) {
	t.Parallel()
	const samples, n = 500, 20
	rng := rand.New(rand.NewPCG(9, 9))
	detectable, found := 0.0, 0
	for range 100 {
		a, b := talks(rng, n, [2]float64{0.5, 0.5})
		both, f := paired(a, b, ratio, 1)
		detectable += Detectable(jackknife(both, all(n), both.sum(), f, 1)[0], n) / 100
	}
	for range samples {
		a, b := talks(rng, n, [2]float64{0.5 - detectable/2, 0.5 + detectable/2})
		if both, f := paired(a, b, ratio, 1); TTest(f.values(both.sum(), 1)[0], jackknife(both, all(n), both.sum(), f, 1)[0], n) < 0.05 {
			found++
		}
	}
	if part := float64(found) / samples; part < 0.7 || part > 0.9 {
		t.Errorf("a difference of %.3f is found in %.1f %%", detectable, 100*part)
	}
}

// TestSignFlipExact compares with all exchanges, one by one.
func TestSignFlipExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{6, 7, 9} {
		a, b := talks(rng, n, [2]float64{0.4, 0.6})
		p, below := signFlip(a, b, ratio, 1)
		observed := math.Abs(exchanged(a, b, 0))
		extreme := 0
		for mask := range 1 << n {
			if math.Abs(exchanged(a, b, mask)) >= observed*(1-1e-9) {
				extreme++
			}
		}
		if want := float64(extreme) / float64(int(1)<<n); math.Abs(p[0]-want) > 1e-12 || below[0] {
			t.Errorf("%d units: p %v, %v, want %v", n, p[0], below[0], want)
		}
	}
}

// exchanged is the difference after the units of the mask exchanged their rows.
func exchanged(a, b Rows, mask int) float64 {
	var hits [2]float64
	decisions := 0.0
	for i := range a {
		x, y := a[i][1], b[i][1]
		if mask>>i&1 == 1 {
			x, y = y, x
		}
		hits[0], hits[1], decisions = hits[0]+x, hits[1]+y, decisions+a[i][0]
	}
	return (hits[1] - hits[0]) / decisions
}

// constant has a difference of 0.2 in each of n units.
func constant(n int) (a, b Rows) {
	for range n {
		a, b = append(a, []float64{10, 5}), append(b, []float64{10, 7})
	}
	return a, b
}

// TestFewest: under six units there is neither an interval nor a p-value. From
// six on the lowest p-value is 2/2^k, and with many units a bound.
func TestFewest(t *testing.T) {
	for n := 1; n < MinUnits; n++ {
		a, b := constant(n)
		if d := Differences(a, b, ratio, 1, 100)[0]; !math.IsNaN(d.P) || !math.IsNaN(d.Interval[0]) || math.Abs(d.Value-0.2) > 1e-12 {
			t.Errorf("%d units: %+v", n, d)
		}
	}
	for n, want := range map[int]float64{6: 2.0 / 64, 10: 2.0 / 1024, 30: 1.0 / 20001} {
		a, b := constant(n)
		if d := Differences(a, b, ratio, 1, 100)[0]; math.Abs(d.P-want) > 1e-12 || d.Below != (n == 30) {
			t.Errorf("%d units: p %v, below %v, want %v", n, d.P, d.Below, want)
		}
	}
}

// TestStudent compares with tables of the t distribution.
func TestStudent(t *testing.T) {
	for _, c := range []struct{ t, df, tail float64 }{{2.571, 5, 0.05}, {2.228, 10, 0.05}, {2.045, 29, 0.05}, {1.960, 1e6, 0.05}, {4.032, 5, 0.01}, {0, 7, 1}} {
		if got := tTail(c.t, c.df); math.Abs(got-c.tail) > 2e-4 {
			t.Errorf("t=%v, %v degrees: %v, want %v", c.t, c.df, got, c.tail)
		}
		if got := tQuantile(c.tail/2, c.df); math.Abs(got-c.t) > 1e-3 {
			t.Errorf("quantile %v, %v degrees: %v, want %v", c.tail, c.df, got, c.t)
		}
	}
}

func TestHolm(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, 0.03, math.NaN(), 0.005})
	want := []float64{0.03, 0.06, 0.06, math.NaN(), 0.02}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 || math.IsNaN(got[i]) != math.IsNaN(want[i]) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
