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

// Resamples holds the sums of a batch and, of many transcripts, the
// bootstrapped figures.
type Resamples struct {
	lists  [][]*sums // by policy, the recorded decisions first: by transcript
	n      int       // resamples
	values values    // nil for few transcripts
}

// values are the figures of all resamples, by policy and measure.
type values [][][]float64

// resample draws n bootstrap resamples (Efron, 1979): as many transcripts as
// there are, with replacement. All policies get the same draws, so that their
// values are paired. lists are the sums of each policy by transcript.
func resample(n, workers int, lists [][]*sums) values {
	values := make(values, len(lists))
	for k := range values {
		values[k] = make([][]float64, len(measures))
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
func (c *columns) draw(from, to int, values values) {
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

// interval is the percentile interval of resampled values that leaves out a share of
// them at each end. NaN values do not count; without others it is NaN.
func interval(values []float64, tail float64) [2]Figure {
	v := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(v) == 0 {
		return [2]Figure{None(), None()}
	}
	lo := int(tail * float64(len(v)))
	hi := max(lo, len(v)-1-lo)
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

// columns holds the sums of all policies by column, for resampling. Equal
// columns are held once: most are the same for several policies, or all zeros.
type columns struct {
	n       int                  // transcripts
	bands   [][]band             // of columns, by transcript
	indexes [][resampledSums]int // by policy and sum: its column
}

// A band is as many columns as sumRows adds up side by side.
type band [bandWidth]float64

const bandWidth = 8

// newColumns takes the sums of each policy by transcript.
func newColumns(lists [][]*sums) *columns {
	c := &columns{n: len(lists[0]), indexes: make([][resampledSums]int, len(lists))}
	var all [][]float64
	for k, list := range lists {
		for j := range resampledSums {
			column := make([]float64, c.n)
			for i, s := range list {
				column[i] = s[j]
			}
			at := slices.IndexFunc(all, func(x []float64) bool { return slices.Equal(x, column) })
			if at < 0 {
				at, all = len(all), append(all, column)
			}
			c.indexes[k][j] = at
		}
	}
	for at, column := range all {
		if at%bandWidth == 0 {
			c.bands = append(c.bands, make([]band, c.n))
		}
		for i, x := range column {
			c.bands[at/bandWidth][i][at%bandWidth] = x
		}
	}
	return c
}

// sumRows adds up the drawn rows, in that order.
func sumRows(rows []band, drawn []int32) band {
	var a, b, c, d, e, f, g, h float64 // an array would not be kept in registers
	for _, i := range drawn {
		r := &rows[i]
		a += r[0]
		b += r[1]
		c += r[2]
		d += r[3]
		e += r[4]
		f += r[5]
		g += r[6]
		h += r[7]
	}
	return band{a, b, c, d, e, f, g, h}
}
