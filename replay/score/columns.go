package score

import "slices"

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
