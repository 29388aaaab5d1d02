package adaptive

import (
	"math"
	"testing"
)

func TestLogarithm(t *testing.T) {
	t.Parallel()
	for x := 1e-6; x < 1e9; x *= 1.00731 {
		if got, want := logarithm(x), math.Log(x); math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
			t.Fatalf("ln %g is %.15g, want %.15g", x, got, want)
		}
	}
	if got := ln(0); got != ln(probabilityFloor) || math.Abs(got-math.Log(1e-5)) > 1e-8 {
		t.Errorf("ln 0 is %g", got)
	}
}

func TestExponentials(t *testing.T) {
	t.Parallel()
	for x := -690.0; x < 690; x += .137 {
		z := []float64{x}
		exponentials(z, z)
		if want := math.Exp(x); math.Abs(z[0]-want) > 1e-8*want {
			t.Fatalf("e^%g is %.15g, want %.15g", x, z[0], want)
		}
	}
	z := []float64{-1e9, 1e9}
	exponentials(z, z)
	if z[0] > 1e-300 || math.IsInf(z[1], 0) {
		t.Errorf("e to minus and plus much are %g and %g", z[0], z[1])
	}
}
