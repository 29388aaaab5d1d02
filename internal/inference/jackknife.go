package inference

import "math"

// jackknife returns the standard errors of n figures by leaving out one of the
// rows at a time (Tukey, 1958; Efron and Tibshirani, An Introduction to the
// Bootstrap, 1993, chapter 11). picks are the indexes of the rows, which may
// repeat, and total is their sum. A standard error is NaN where the figure of a
// part is.
func jackknife(rows Rows, picks []int, total []float64, f Figures, n int) []float64 {
	k := float64(len(picks))
	sum, squares, left, out := make([]float64, n), make([]float64, n), make([]float64, len(total)), make([]float64, n)
	for _, i := range picks {
		copy(left, total)
		add(left, rows[i], -1)
		f(left, out)
		for j, x := range out {
			sum[j] += x
			squares[j] += x * x
		}
	}
	for j := range out {
		variance := squares[j]/k - (sum[j]/k)*(sum[j]/k)
		if variance < 1e-14*squares[j]/k {
			variance = 0 // of equal parts, up to rounding
		}
		out[j] = math.Sqrt(variance * (k - 1))
	}
	return out
}

// all returns the indexes of n rows.
func all(n int) []int {
	picks := make([]int, n)
	for i := range picks {
		picks[i] = i
	}
	return picks
}
