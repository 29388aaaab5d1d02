package replay

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// seed makes the resamples of every report the same.
const seed = 20_260_227

// resampleBlock is how many resamples come from one source of chance, so that
// blocks can be drawn side by side and are the same in whatever order.
const resampleBlock = 50

// minTranscripts is how many transcripts an interval takes.
const minTranscripts = 2

// intervals returns, for each list and each measure, the values of all
// resamples: as many transcripts as there are, drawn with replacement. The
// lists are about the same transcripts, so draws are paired.
func intervals(c Config, lists [][]*sums) [][][]float64 {
	values := make([][][]float64, len(lists))
	for k := range values {
		values[k] = make([][]float64, len(measures))
	}
	if len(lists[0]) < minTranscripts {
		return values
	}
	for k := range values {
		for m := range measures {
			values[k][m] = make([]float64, c.Resamples)
		}
	}
	blocks := make(chan int)
	var wg sync.WaitGroup
	for range c.Workers {
		wg.Go(func() {
			for block := range blocks {
				resample(block*resampleBlock, min((block+1)*resampleBlock, c.Resamples), lists, values)
			}
		})
	}
	for block := 0; block*resampleBlock < c.Resamples; block++ {
		blocks <- block
	}
	close(blocks)
	wg.Wait()
	return values
}

// resample fills in the values from, and up to, those places.
func resample(from, to int, lists [][]*sums, values [][][]float64) {
	rng := rand.New(rand.NewPCG(seed, uint64(from)))
	total := make([]sums, len(lists))
	n := len(lists[0])
	for at := from; at < to; at++ {
		clear(total)
		for range n {
			i := rng.IntN(n)
			for k := range lists {
				sum, more := total[k][:nResampled], lists[k][i][:nResampled]
				for j, x := range more {
					sum[j] += x
				}
			}
		}
		for k := range total {
			for m := range measures {
				values[k][m][at] = measures[m].of(&total[k])
			}
		}
	}
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
