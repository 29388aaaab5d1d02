package adaptive

import "math"

// The logarithm and the exponential are spelt out here because package math
// has versions in assembly whose last bit differs from processor to
// processor. A decision must be the same bytes on every host and in the
// sandbox. For the same reason every product is converted before it is added:
// the language then forbids to fuse the two.

// probabilityFloor is the least probability that a logarithm is taken of: a
// count of nothing is not a verdict.
const probabilityFloor = 1e-5

// ln is the natural logarithm of a probability or a count, at least that of
// probabilityFloor. The error is below 1e-9: x is written as m*2^e with m near
// 1 and, with s = (m-1)/(m+1), ln m = 2(s + s^3/3 + s^5/5 + ...).
func ln(x float64) float64 {
	if x < probabilityFloor {
		x = probabilityFloor
	}
	return logarithm(x)
}

// logarithm is that of any positive, normal number.
func logarithm(x float64) float64 {
	b := math.Float64bits(x)
	e := int(b>>52) - 1023
	m := math.Float64frombits(b&(1<<52-1) | 1023<<52) // 1 to 2
	if m > math.Sqrt2 {
		m *= .5
		e++
	}
	s := (m - 1) / (m + 1)
	q := s * s
	p := float64(float64(float64(float64(q*(1.0/9))+1.0/7)*q) + 1.0/5)
	p = float64(p*q) + 1.0/3
	p = float64(p*q) + 1
	return float64(2*float64(s*p)) + float64(float64(e)*math.Ln2)
}

// exponentials sets to[i] to e to the power of z[i]; beyond 700 and -700 it is
// as there. The error is below 1e-8 of the value: x is written as k*ln 2 + r
// and the series of e^r is cut where it no longer matters.
func exponentials(to, z []float64) {
	to = to[:len(z)]
	for i, x := range z {
		if x < -700 {
			x = -700
		}
		if x > 700 {
			x = 700
		}
		k := math.Floor(float64(x*math.Log2E) + .5)
		r := x - float64(k*math.Ln2)
		p := float64(float64(float64(r*(1.0/5040))+1.0/720)*r) + 1.0/120
		p = float64(p*r) + 1.0/24
		p = float64(p*r) + 1.0/6
		p = float64(p*r) + 1.0/2
		p = float64(p*r) + 1
		p = float64(p*r) + 1
		to[i] = p * math.Float64frombits(uint64(int64(k)+1023)<<52)
	}
}

// sign is 1 for true.
func sign(v bool) int {
	if v {
		return 1
	}
	return 0
}
