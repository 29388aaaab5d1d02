package inference

import (
	"cmp"
	"math"
	"slices"
)

// A Difference is the difference of a figure between two policies on the same
// units, the second minus the first. Fields without a value are NaN.
type Difference struct {
	Value      float64
	Interval   [2]float64 // 95 %
	P          float64    // two-sided
	Below      bool       // P is only a bound: resampling shows no smaller value
	Detectable float64    // smallest difference that so many units could show
}

// Differences compares n figures. a and b have a row for each unit.
func Differences(a, b Rows, f Figures, n, resamples int) []Difference {
	both, difference := paired(a, b, f, n)
	total := both.sum()
	values, spread := difference.values(total, n), jackknife(both, all(len(both)), total, difference, n)
	out := make([]Difference, n)
	for j := range out {
		none := math.NaN()
		out[j] = Difference{Value: values[j], Interval: [2]float64{none, none}, P: none, Detectable: Detectable(spread[j], len(a))}
	}
	if len(a) < MinUnits {
		return out
	}
	intervals := Intervals(both, difference, n, resamples)
	p, below := signFlipOrT(a, b, f, values, spread)
	for j := range out {
		out[j].Interval, out[j].P, out[j].Below = intervals[j], p[j], below[j]
	}
	return out
}

// signFlipOrT tests few units by sign flips, many by a t-test.
func signFlipOrT(a, b Rows, f Figures, values, spread []float64) (p []float64, below []bool) {
	if len(a) <= FewUnits {
		return signFlip(a, b, f, len(values))
	}
	p = make([]float64, len(values))
	for j := range p {
		p[j] = TTest(values[j], spread[j], len(a))
	}
	return p, make([]bool, len(p))
}

// Intervals returns the 95 % intervals of n figures, NaN for too few rows.
func Intervals(rows Rows, f Figures, n, resamples int) [][2]float64 {
	switch {
	case len(rows) < MinUnits:
		out := make([][2]float64, n)
		for j := range out {
			out[j] = [2]float64{math.NaN(), math.NaN()}
		}
		return out
	case len(rows) <= StudentisedUnits:
		return studentised(rows, f, n, resamples)
	}
	return percentile(rows, f, n, resamples)
}

// StandardErrors returns the standard errors of the differences of n figures by
// the jackknife.
func StandardErrors(a, b Rows, f Figures, n int) []float64 {
	both, difference := paired(a, b, f, n)
	return jackknife(both, all(len(both)), both.sum(), difference, n)
}

// TTest is the two-sided p-value of a value with a standard error from so many
// units. A value of 0 has 1.
func TTest(value, spread float64, units int) float64 {
	if value == 0 {
		return 1
	}
	return tTail(value/spread, float64(units-1))
}

// power is the probability with which a detectable difference is found.
const power = 0.8

// Detectable is the smallest true difference that a two-sided test at 5 % finds
// with a probability of 80 %, given the standard error: the minimum detectable
// effect (Bloom, Minimum Detectable Effects, Evaluation Review 19, 1995). It is
// NaN for a single unit and without any spread.
func Detectable(spread float64, units int) float64 {
	if units < 2 || !(spread > 0) {
		return math.NaN()
	}
	df := float64(units - 1)
	return (tQuantile((1-Level)/2, df) + tQuantile(1-power, df)) * spread
}

// Holm adjusts p-values of several comparisons so that the probability of any
// false one stays below the level (Holm, A Simple Sequentially Rejective Multiple
// Test Procedure, 1979). NaN values are no comparisons.
func Holm(p []float64) []float64 {
	var order []int
	for i, x := range p {
		if !math.IsNaN(x) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out := slices.Clone(p)
	most := 0.0
	for rank, i := range order {
		most = max(most, min(1, float64(len(order)-rank)*p[i]))
		out[i] = most
	}
	return out
}
