package replay

import "slices"

// columns hold the sums of all lists that are resampled, by column. Each is
// held once: most are the same for several policies, or nothing but zeros.
type columns struct {
	n      int               // transcripts
	bands  [][]band          // of columns, by transcript
	places [][nResampled]int // by list and sum: its column
}

// A band is as many columns as are added up side by side.
type band [bandWidth]float64

const bandWidth = 8

func newColumns(lists [][]*sums) *columns {
	t := &columns{n: len(lists[0]), places: make([][nResampled]int, len(lists))}
	var all [][]float64
	for k, list := range lists {
		for j := range nResampled {
			column := make([]float64, t.n)
			for i, s := range list {
				column[i] = s[j]
			}
			at := slices.IndexFunc(all, func(c []float64) bool { return slices.Equal(c, column) })
			if at < 0 {
				at, all = len(all), append(all, column)
			}
			t.places[k][j] = at
		}
	}
	for at, column := range all {
		if at%bandWidth == 0 {
			t.bands = append(t.bands, make([]band, t.n))
		}
		for i, x := range column {
			t.bands[at/bandWidth][i][at%bandWidth] = x
		}
	}
	return t
}

// sumOf adds up the rows that were drawn, in that order.
func sumOf(rows []band, drawn []int32) band {
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
