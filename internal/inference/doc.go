// Package inference computes intervals and p-values of figures that are
// functions of sums over independent units, such as transcripts.
//
// Under [MinUnits] units there are none. Up to [StudentisedUnits] an interval is
// that of the studentised bootstrap, and with more units that of the percentile
// bootstrap, which is too narrow for fewer and takes less time. Up to [FewUnits] a
// p-value is that of a sign-flip permutation test, and with more units that of a
// t-test with the jackknife's standard error.
package inference

// Numbers of units, from or up to which a method is used.
const (
	MinUnits         = 6
	FewUnits         = 30
	StudentisedUnits = 100
)

// Level is the level of an interval.
const Level = 0.95

// Rows are the addends of units: a list of the same length for each.
type Rows [][]float64

// Figures computes figures from the sums of rows. A figure may be NaN.
type Figures func(total, out []float64)

// sum returns the sums of r, in a slice of the given width.
func (r Rows) sum() []float64 {
	total := make([]float64, len(r[0]))
	for _, row := range r {
		add(total, row, 1)
	}
	return total
}

func add(total, row []float64, factor float64) {
	for i, x := range row {
		total[i] += factor * x
	}
}

// values returns n figures of total.
func (f Figures) values(total []float64, n int) []float64 {
	out := make([]float64, n)
	f(total, out)
	return out
}

// paired returns the rows of both policies side by side, and the figures of
// the second minus those of the first.
func paired(a, b Rows, f Figures, n int) (Rows, Figures) {
	both := make(Rows, len(a))
	for i := range a {
		both[i] = append(append([]float64{}, a[i]...), b[i]...)
	}
	width := len(a[0])
	first := make([]float64, n)
	return both, func(total, out []float64) {
		f(total[:width], first)
		f(total[width:], out)
		for i := range out {
			out[i] -= first[i]
		}
	}
}
