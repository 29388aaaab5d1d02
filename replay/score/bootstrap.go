package score

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// seed makes the resamples of every report the same.
const seed = 20_260_227

// blockSize is how many resamples share one random source, so that blocks can
// be drawn by several goroutines in any order.
const blockSize = 50

// minTranscripts is how many transcripts an interval needs.
const minTranscripts = 2

// Resamples holds the bootstrapped figures of a batch: by policy (the recorded
// decisions first) and measure, the values of all resamples.
type Resamples [][][]float64

// resample draws n bootstrap resamples (Efron, 1979): as many transcripts as
// there are, with replacement. All policies get the same draws, so that their
// values are paired. lists are the sums of each policy by transcript.
func resample(n, workers int, lists [][]*sums) Resamples {
	values := make(Resamples, len(lists))
	for k := range values {
		values[k] = make([][]float64, len(measures))
	}
	if len(lists[0]) < minTranscripts {
		return values
	}
	for k := range values {
		for m := range measures {
			values[k][m] = make([]float64, n)
		}
	}
	c := newColumns(lists)
	blocks := make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for block := range blocks {
				c.draw(block*blockSize, min((block+1)*blockSize, n), values)
			}
		})
	}
	for block := 0; block*blockSize < n; block++ {
		blocks <- block
	}
	close(blocks)
	wg.Wait()
	return values
}

// draw sets the resamples from, up to but not including to.
func (c *columns) draw(from, to int, values Resamples) {
	random := rand.New(rand.NewPCG(seed, uint64(from)))
	drawn, total := make([]int32, c.n), make([]band, len(c.bands))
	for at := from; at < to; at++ {
		for i := range drawn {
			drawn[i] = int32(random.IntN(c.n))
		}
		for b := range c.bands {
			total[b] = sumRows(c.bands[b], drawn)
		}
		var s sums
		for k, indexes := range c.indexes {
			for j, i := range indexes {
				s[j] = total[i/bandWidth][i%bandWidth]
			}
			for m := range measures {
				values[k][m][at] = measures[m].of(&s)
			}
		}
	}
}

// interval is the 95 % percentile interval of resampled values. NaN values are
// left out; without others it is NaN.
func interval(values []float64) [2]Figure {
	v := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(v) == 0 {
		return [2]Figure{None(), None()}
	}
	lo := int(0.025 * float64(len(v)))
	hi := max(lo, min(len(v)-1, int(0.975*float64(len(v)))-1))
	quickselect(v, lo)
	quickselect(v[lo:], hi-lo)
	return [2]Figure{Figure(v[lo]), Figure(v[hi])}
}

// quickselect (Hoare, 1961) puts the value into v[k] that would be there if v
// were sorted, smaller ones before it and greater ones after it.
func quickselect(v []float64, k int) {
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

// pValue is the two-sided bootstrap p-value of the difference between paired
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
