package logistic

import (
	"math"
	"testing"
)

// TestFit: without a penalty the probability of each value of a single binary feature
// is the weighted share of its positive examples.
func TestFit(t *testing.T) {
	t.Parallel()
	examples := []Example{
		{[]float64{0}, true, 1},
		{[]float64{0}, false, 3},
		{[]float64{1}, true, 2},
		{[]float64{1}, false, 1},
	}
	w := Fit(examples, 1, 0)
	if odds := math.Log(1.0 / 3); math.Abs(w[0]-odds) > 1e-5 || math.Abs(w[0]+w[1]-math.Log(2)) > 1e-5 {
		t.Errorf("intercept %v, weight %v", w[0], w[1])
	}
	if pulled := Fit(examples, 1, 1); pulled[1] <= 0 || pulled[1] >= w[1] {
		t.Errorf("with a penalty the weight is %v, without %v", pulled[1], w[1])
	}
	if none := Fit(nil, 1, 1); none[0] != 0 || none[1] != 0 {
		t.Errorf("without examples %v", none)
	}
}
