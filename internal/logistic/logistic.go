// Package logistic fits logistic regressions by Newton's method (Hastie, Tibshirani,
// Friedman, The Elements of Statistical Learning, 2nd ed., 4.4). A fit is
// deterministic.
package logistic

import "math"

// An Example is an observation: its features, whether it is positive, and its weight.
type Example struct {
	X        []float64
	Positive bool
	Weight   float64
}

// Parameters of Newton's method. They are fixed and not tuned.
const (
	maxSteps  = 30
	converged = 1e-9
	regular   = 1e-6 // keeps the Hessian regular without examples
)

// Fit returns the intercept and the weights of the features, of which each example has
// as many. pull is the L2 penalty on the weights; the intercept has none.
func Fit(examples []Example, features int, pull float64) []float64 {
	w := make([]float64, 1+features)
	for range maxSteps {
		step := solve(derivatives(examples, w, pull))
		largest := 0.0
		for i := range w {
			w[i] -= step[i]
			largest = max(largest, math.Abs(step[i]))
		}
		if largest < converged {
			break
		}
	}
	return w
}

// derivatives returns the Hessian of the penalized loss at w, and the gradient as its
// last column.
func derivatives(examples []Example, w []float64, pull float64) [][]float64 {
	size := len(w)
	h := make([][]float64, size)
	for i := range h {
		h[i] = make([]float64, size+1)
		h[i][i], h[i][size] = pull, pull*w[i]
	}
	h[0][0], h[0][size] = regular, 0
	x := make([]float64, size)
	x[0] = 1
	for k := range examples {
		e := &examples[k]
		copy(x[1:], e.X)
		z := 0.0
		for i := range x {
			z += w[i] * x[i]
		}
		p := 1 / (1 + math.Exp(-z))
		miss := p
		if e.Positive {
			miss--
		}
		for i := range x {
			for j := range x {
				h[i][j] += e.Weight * p * (1 - p) * x[i] * x[j]
			}
			h[i][size] += e.Weight * miss * x[i]
		}
	}
	return h
}

// solve solves a positive definite system by Gaussian elimination. The last column of
// h is the right side.
func solve(h [][]float64) []float64 {
	size := len(h)
	for i := range h {
		for j := i + 1; j < size; j++ {
			f := h[j][i] / h[i][i]
			for k := i; k <= size; k++ {
				h[j][k] -= f * h[i][k]
			}
		}
	}
	x := make([]float64, size)
	for i := size - 1; i >= 0; i-- {
		x[i] = h[i][size]
		for k := i + 1; k < size; k++ {
			x[i] -= h[i][k] * x[k]
		}
		x[i] /= h[i][i]
	}
	return x
}
