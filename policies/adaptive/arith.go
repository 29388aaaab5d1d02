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
// probabilityFloor.
func ln(x float64) float64 {
	if x < probabilityFloor {
		x = probabilityFloor
	}
	return logarithm(x)
}

// logarithm is that of any positive, normal number, with an error below 1e-9.
// The number is m*2^e with m from 1 to 2; a table has ln c and 1/c for the
// middle c of the 64th of that range that holds m; and ln m = ln c + ln(1+r)
// with r = m/c - 1, which is so small that four terms of the series do.
func logarithm(x float64) float64 {
	b := math.Float64bits(x)
	c := &middles[b>>46&63]
	r := float64(math.Float64frombits(b&(1<<52-1)|1023<<52)*c.inverse) - 1
	p := float64(float64(float64(r*-.25)+1.0/3)*r) - .5
	return float64(float64(int(b>>52)-1023)*math.Ln2) + c.ln + r + float64(float64(p*r)*r)
}

// middles are the middles of the 64 parts of 1 to 2.
var middles = func() (all [64]struct{ inverse, ln float64 }) {
	for i := range all {
		c := 1 + (float64(i)+.5)/64
		s := (c - 1) / (c + 1) // ln c = 2(s + s^3/3 + s^5/5 + ...)
		term, sum := s, 0.0
		for n := 1; n < 40; n += 2 {
			sum += term / float64(n)
			term = float64(float64(term*s) * s)
		}
		all[i].inverse, all[i].ln = 1/c, 2*sum
	}
	return all
}()

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
