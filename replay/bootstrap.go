package replay

import (
	"math"
	"math/rand/v2"
	"slices"
)

// seed makes the resamples of every report the same.
const seed = 20_260_227

// resample draws transcripts with replacement, as many as there are, n times,
// and yields the summed scores of each draw: one sum for each list of scores.
// The lists are about the same transcripts, so draws are paired.
func resample(n int, lists [][]*sums, yield func([]sums)) {
	rng := rand.New(rand.NewPCG(seed, seed))
	total := make([]sums, len(lists))
	for range n {
		clear(total)
		for range lists[0] {
			i := rng.IntN(len(lists[0]))
			for k := range lists {
				total[k].add(lists[k][i])
			}
		}
		yield(total)
	}
}

// minTranscripts is how many transcripts an interval takes.
const minTranscripts = 2

// intervals returns, for each list and each measure, the values of all
// resamples.
func intervals(n int, lists [][]*sums) [][][]float64 {
	values := make([][][]float64, len(lists))
	for k := range values {
		values[k] = make([][]float64, len(measures))
	}
	if len(lists) == 0 || len(lists[0]) < minTranscripts {
		return values
	}
	resample(n, lists, func(total []sums) {
		for k := range total {
			for m := range measures {
				values[k][m] = append(values[k][m], measures[m].of(&total[k]))
			}
		}
	})
	return values
}

// interval is the 95 % percentile interval of resampled values; NaN without
// any. Resamples in which there is nothing to measure are left out.
func interval(values []float64) [2]Figure {
	v := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(v) == 0 {
		return [2]Figure{Figure(math.NaN()), Figure(math.NaN())}
	}
	slices.Sort(v)
	lo := int(0.025 * float64(len(v)))
	hi := min(len(v)-1, int(0.975*float64(len(v)))-1)
	return [2]Figure{Figure(v[lo]), Figure(v[max(lo, hi)])}
}

// pValue is the two-sided probability that a difference is none, from its
// resamples.
func pValue(a, b []float64) float64 {
	var below, above, n float64
	for i := range a {
		d := b[i] - a[i]
		if math.IsNaN(d) {
			continue
		}
		n++
		if d <= 0 {
			below++
		}
		if d >= 0 {
			above++
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return min(1, 2*max(1, min(below, above))/n)
}
