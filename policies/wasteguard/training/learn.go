package training

import (
	"math"
	"slices"
	"strconv"

	"github.com/folkmoot/moot/policies/wasteguard"
)

// Parameters of logistic regression by Newton's method (Hastie, Tibshirani, Friedman, The
// Elements of Statistical Learning, 2nd ed., 4.4). They are fixed and not tuned.
const (
	pull      = 1 // L2 penalty on a weight of a feature in units of its standard deviation
	maxSteps  = 30
	converged = 1e-9
	figures   = 4 // significant figures of what a model holds, so that processors agree
)

// Learn learns a model of the runs.
func Learn(runs []*Run) *wasteguard.Model {
	m := &wasteguard.Model{}
	deviations := standardize(runs, m)
	weights := newton(runs, m, deviations)
	for i := range m.Weights {
		m.Weights[i], m.Means[i] = rounded(weights[i]/deviations[i]), rounded(m.Means[i])
	}
	m.Cuts = cuts(runs, m)
	return m
}

// rounded returns f with few significant figures.
func rounded(f float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', figures, 64), 64)
	if err != nil {
		return 0 // no number; JSON has none for it either
	}
	return r
}

// each visits the turns that can be flagged.
func each(runs []*Run, visit func(x *wasteguard.Features, mistake bool)) {
	for _, r := range runs {
		for i := range r.turns {
			if r.turns[i].judged {
				visit(&r.turns[i].x, i == r.Mistake)
			}
		}
	}
}

// standardize sets the means of the features and returns their standard deviations, which
// are 1 for a feature that never differs.
func standardize(runs []*Run, m *wasteguard.Model) (deviations wasteguard.Features) {
	n := 0.0
	each(runs, func(x *wasteguard.Features, _ bool) {
		n++
		for i := range x {
			m.Means[i] += x[i]
		}
	})
	for i := range m.Means {
		m.Means[i] /= max(n, 1)
	}
	each(runs, func(x *wasteguard.Features, _ bool) {
		for i := range x {
			deviations[i] += (x[i] - m.Means[i]) * (x[i] - m.Means[i])
		}
	})
	for i, sum := range deviations {
		if deviations[i] = math.Sqrt(sum / max(n, 1)); deviations[i] < 1e-9 {
			deviations[i] = 1
		}
	}
	return deviations
}

const (
	bias = wasteguard.Count // the index of the intercept, which is not penalized
	size = wasteguard.Count + 1
)

// newton returns the weights of the standardized features, and the intercept.
func newton(runs []*Run, m *wasteguard.Model, deviations wasteguard.Features) (b [size]float64) {
	for range maxSteps {
		var h [size][size + 1]float64 // the Hessian, and the gradient as its last column
		for i := range wasteguard.Count {
			h[i][i], h[i][size] = pull, pull*b[i]
		}
		h[bias][bias] = 1e-6 // the matrix is regular also if there is no turn
		each(runs, func(x *wasteguard.Features, mistake bool) {
			z := [size]float64{bias: 1}
			sum := b[bias]
			for i := range x {
				z[i] = (x[i] - m.Means[i]) / deviations[i]
				sum += b[i] * z[i]
			}
			p := 1 / (1 + math.Exp(-sum))
			miss := p
			if mistake {
				miss--
			}
			for i := range z {
				for j := range z {
					h[i][j] += p * (1 - p) * z[i] * z[j]
				}
				h[i][size] += miss * z[i]
			}
		})
		step := solve(&h)
		largest := 0.0
		for i := range b {
			b[i] -= step[i]
			largest = max(largest, math.Abs(step[i]))
		}
		if largest < converged {
			break
		}
	}
	return b
}

// solve solves a positive definite system by Gaussian elimination. The last column of h is
// the right side.
func solve(h *[size][size + 1]float64) (x [size]float64) {
	for i := range h {
		for j := i + 1; j < size; j++ {
			f := h[j][i] / h[i][i]
			for k := i; k <= size; k++ {
				h[j][k] -= f * h[i][k]
			}
		}
	}
	for i := size - 1; i >= 0; i-- {
		x[i] = h[i][size]
		for k := i + 1; k < size; k++ {
			x[i] -= h[i][k] * x[k]
		}
		x[i] /= h[i][i]
	}
	return x
}

// cuts returns the scores that shares of all turns reach, people's included, rounded down
// so that the turn itself reaches it.
func cuts(runs []*Run, m *wasteguard.Model) (out [len(wasteguard.Shares)]float64) {
	all, turns := []float64{0}[:0], 0
	for _, r := range runs {
		turns += len(r.turns)
	}
	each(runs, func(x *wasteguard.Features, _ bool) { all = append(all, m.Score(x)) })
	if len(all) == 0 {
		return out
	}
	slices.Sort(all)
	slices.Reverse(all)
	for i, percent := range wasteguard.Shares {
		n := int(percent / 100 * float64(turns))
		out[i] = math.Floor(all[min(max(n-1, 0), len(all)-1)]*1e4) / 1e4
	}
	return out
}
