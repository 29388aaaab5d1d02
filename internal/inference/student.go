package inference

import "math"

// tTail is the probability that Student's t with df degrees of freedom is
// farther from 0 than t, in both directions (Abramowitz and Stegun, Handbook of
// Mathematical Functions, 1964, 26.7.1).
func tTail(t, df float64) float64 {
	if math.IsInf(t, 0) {
		return 0
	}
	return incompleteBeta(df/2, 0.5, df/(df+t*t))
}

// tQuantile is the value that t with df degrees of freedom exceeds with
// probability tail, by bisection.
func tQuantile(tail, df float64) float64 {
	lo, hi := 0.0, 1e6
	for range 100 {
		mid := (lo + hi) / 2
		if tTail(mid, df)/2 > tail {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// incompleteBeta is the regularized incomplete beta function, by its continued
// fraction (Press et al., Numerical Recipes, 3rd edition 2007, section 6.4).
func incompleteBeta(a, b, x float64) float64 {
	if x <= 0 || x >= 1 {
		return max(0, min(1, x))
	}
	if x > (a+1)/(a+b+2) {
		return 1 - incompleteBeta(b, a, 1-x)
	}
	ga, _ := math.Lgamma(a)
	gb, _ := math.Lgamma(b)
	gab, _ := math.Lgamma(a + b)
	front := math.Exp(gab - ga - gb + a*math.Log(x) + b*math.Log(1-x))
	return front * betaFraction(a, b, x) / a
}

// betaFraction evaluates the continued fraction by Lentz's method.
func betaFraction(a, b, x float64) float64 {
	const tiny = 1e-300
	guarded := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/guarded(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m < 500; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d, c = 1/guarded(1+even*d), guarded(1+even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d, c = 1/guarded(1+odd*d), guarded(1+odd/c)
		h *= d * c
		if math.Abs(d*c-1) < 1e-14 {
			break
		}
	}
	return h
}
