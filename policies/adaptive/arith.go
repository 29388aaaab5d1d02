package adaptive

import "math"

// The logarithm and the exponential are spelt out here because package math
// has versions in assembly whose last bit differs from processor to
// processor. A decision must be the same bytes on every host and in the
// sandbox. For the same reason every product is converted before it is added:
// the language then forbids to fuse the two.

// ln2 in two parts: the product of the first with a small whole number is
// exact.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// ln is the natural logarithm of a probability or a count, at least that of
// probabilityFloor: a count of nothing is not a verdict.
func ln(x float64) float64 { return logarithm(max(x, probabilityFloor)) }

// logarithm is the natural logarithm of a positive, normal number. The error
// is below 1e-13: x is written as m*2^e with m near 1 and, with s =
// (m-1)/(m+1), ln m = 2(s + s^3/3 + s^5/5 + ...).
func logarithm(x float64) float64 {
	b := math.Float64bits(x)
	e := int(b>>52) - 1023
	m := math.Float64frombits(b&(1<<52-1) | 1023<<52) // 1 to 2
	if m > math.Sqrt2 {
		m /= 2
		e++
	}
	s := (m - 1) / (m + 1)
	q := s * s
	p := 1.0 / 15
	p = float64(p*q) + 1.0/13
	p = float64(p*q) + 1.0/11
	p = float64(p*q) + 1.0/9
	p = float64(p*q) + 1.0/7
	p = float64(p*q) + 1.0/5
	p = float64(p*q) + 1.0/3
	p = float64(p*q) + 1
	return float64(float64(2*s)*p) + float64(float64(e)*(ln2High+ln2Low))
}

// probabilityFloor is the least probability that a logarithm is taken of.
const probabilityFloor = 1e-5

// exp is e to the power of x, for x of at most 700, and 0 below -700. The
// error is below 1e-11 of the value: x is written as k*ln 2 + r and the series
// of e^r is cut where it no longer matters.
func exp(x float64) float64 {
	if x < -700 {
		return 0
	}
	k := math.Floor(float64(x*math.Log2E) + .5)
	r := x - float64(k*ln2High) - float64(k*ln2Low)
	p := 1.0 / 362880
	p = float64(p*r) + 1.0/40320
	p = float64(p*r) + 1.0/5040
	p = float64(p*r) + 1.0/720
	p = float64(p*r) + 1.0/120
	p = float64(p*r) + 1.0/24
	p = float64(p*r) + 1.0/6
	p = float64(p*r) + 1.0/2
	p = float64(p*r) + 1
	p = float64(p*r) + 1
	return p * math.Float64frombits(uint64(int64(k)+1023)<<52)
}

// sign is 1 for true.
func sign(v bool) float64 {
	if v {
		return 1
	}
	return 0
}
