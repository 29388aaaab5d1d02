package inference

import (
	"math"
	"math/rand/v2"
	"slices"
)

// seed makes the resamples of every report the same.
const seed = 20_261_124

// leastError bounds the standard error of a resample from below, as a share of
// that of the sample: a resample of few different units would have next to none.
const leastError = 0.25

// studentised returns the 95 % intervals of n figures by the symmetric
// studentised bootstrap, or bootstrap-t (Hall, On Symmetric Bootstrap Confidence
// Intervals, 1988; Efron and Tibshirani, 1993, section 12.5): each resample's
// distance from the figure is divided by the resample's own standard error.
func studentised(rows Rows, f Figures, n, resamples int) [][2]float64 {
	total := rows.sum()
	center, spread := f.values(total, n), jackknife(rows, all(len(rows)), total, f, n)
	scaled := make([][]float64, n)
	random := rand.New(rand.NewPCG(seed, 1))
	picks, sum := make([]int, len(rows)), make([]float64, len(total))
	for range resamples {
		clear(sum)
		for i := range picks {
			picks[i] = random.IntN(len(rows))
			add(sum, rows[picks[i]], 1)
		}
		values, errors := f.values(sum, n), jackknife(rows, picks, sum, f, n)
		for j, x := range values {
			if t := math.Abs(x-center[j]) / max(errors[j], leastError*spread[j]); !math.IsNaN(t) {
				scaled[j] = append(scaled[j], t)
			}
		}
	}
	out := make([][2]float64, n)
	for j := range out {
		out[j] = unstudentised(center[j], spread[j], scaled[j], resamples)
	}
	return out
}

// unstudentised turns a quantile of the scaled distances into an interval. It
// is NaN when most resamples have no figure, and a point without any spread.
func unstudentised(center, spread float64, scaled []float64, resamples int) [2]float64 {
	switch {
	case math.IsNaN(center) || math.IsNaN(spread):
		return [2]float64{math.NaN(), math.NaN()}
	case spread == 0:
		return [2]float64{center, center}
	case len(scaled) < resamples/2 || len(scaled) == 0:
		return [2]float64{math.NaN(), math.NaN()}
	}
	slices.Sort(scaled)
	reach := spread * scaled[quantileIndex(Level, len(scaled))]
	return [2]float64{center - reach, center + reach}
}

// Tail is the share of the resampled figures at each end that a percentile interval of so
// many units leaves out. It is a little less than 2.5 %, because resamples vary less than
// samples do: the expanded percentile interval (Hesterberg, What Teachers Should Know About
// the Bootstrap, The American Statistician 69, 2015, section 4.4).
func Tail(units int) float64 {
	n := float64(units)
	z := math.Sqrt(n/(n-1)) * tQuantile((1-Level)/2, n-1)
	return math.Erfc(z/math.Sqrt2) / 2
}

// percentile returns the 95 % intervals of n figures by the expanded percentile bootstrap
// (Efron, 1979), see [Tail].
func percentile(rows Rows, f Figures, n, resamples int) [][2]float64 {
	values := make([][]float64, n)
	random := rand.New(rand.NewPCG(seed, 2))
	sum, out := make([]float64, len(rows[0])), make([]float64, n)
	for range resamples {
		clear(sum)
		for range rows {
			add(sum, rows[random.IntN(len(rows))], 1)
		}
		f(sum, out)
		for j, x := range out {
			if !math.IsNaN(x) {
				values[j] = append(values[j], x)
			}
		}
	}
	intervals := make([][2]float64, n)
	for j, v := range values {
		intervals[j] = [2]float64{math.NaN(), math.NaN()}
		if len(v) > 0 {
			slices.Sort(v)
			low := quantileIndex(Tail(len(rows)), len(v))
			intervals[j] = [2]float64{v[low], v[len(v)-1-low]}
		}
	}
	return intervals
}

// quantileIndex is the index of the quantile q of n sorted values.
func quantileIndex(q float64, n int) int {
	return max(0, min(n, int(math.Ceil(q*float64(n+1))))-1)
}
