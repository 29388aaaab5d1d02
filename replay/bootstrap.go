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
	t := newColumns(lists)
	blocks := make(chan int)
	var wg sync.WaitGroup
	for range c.Workers {
		wg.Go(func() {
			for block := range blocks {
				t.resample(block*resampleBlock, min((block+1)*resampleBlock, c.Resamples), values)
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
func (t *columns) resample(from, to int, values [][][]float64) {
	rng := rand.New(rand.NewPCG(seed, uint64(from)))
	drawn, total := make([]int32, t.n), make([]band, len(t.bands))
	for at := from; at < to; at++ {
		for i := range drawn {
			drawn[i] = int32(rng.IntN(t.n))
		}
		for b := range t.bands {
			total[b] = sumOf(t.bands[b], drawn)
		}
		var s sums
		for k, places := range t.places {
			for j, place := range places {
				s[j] = total[place/bandWidth][place%bandWidth]
			}
			for m := range measures {
				values[k][m][at] = measures[m].of(&s)
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
	lo := int(0.025 * float64(len(v)))
	hi := max(lo, min(len(v)-1, int(0.975*float64(len(v)))-1))
	order(v, lo)
	order(v[lo:], hi-lo)
	return [2]Figure{Figure(v[lo]), Figure(v[hi])}
}

// order puts the value into place k that would stand there if v were sorted,
// smaller ones before it and greater ones behind.
func order(v []float64, k int) {
	for from, to := 0, len(v)-1; from < to; {
		pivot, i, j := v[from+(to-from)/2], from, to
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			to = j
		case k >= i:
			from = i
		default:
			return
		}
	}
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
