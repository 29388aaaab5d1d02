package adaptive

import "math"

// This file has its own logarithm and exponential, because package math has
// assembly versions whose last bit differs between processors. A decision must
// have the same bytes on every host and in the sandbox. For the same reason
// every product is converted to float64 before it is added: the Go
// specification then forbids a fused multiply-add.

// probabilityFloor is the least argument of ln, so that a count of 0 does not
// exclude a candidate.
const probabilityFloor = 1e-5

// ln is the natural logarithm of max(x, probabilityFloor).
func ln(x float64) float64 {
	if x < probabilityFloor {
		x = probabilityFloor
	}
	return logarithm(x)
}

// logarithm is the natural logarithm of a positive, normal number, with an error
// below 1e-9. It uses a table-driven method (Tang, Table-driven Implementation of
// the Logarithm Function, 1990): x = m*2^e with 1 <= m < 2, c is the middle of
// the 64th of that range that holds m, and ln m = ln c + ln(1+r) with
// r = m/c - 1. Four terms of the Taylor series of ln(1+r) suffice.
func logarithm(x float64) float64 {
	b := math.Float64bits(x)
	c := &middles[b>>46&63]
	r := float64(math.Float64frombits(b&(1<<52-1)|1023<<52)*c.inverse) - 1
	p := float64(float64(float64(r*-.25)+1.0/3)*r) - .5
	return float64(float64(int(b>>52)-1023)*math.Ln2) + c.ln + r + float64(float64(p*r)*r)
}

// middles has 1/c and ln c for the middles c of the 64 parts of [1, 2).
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

// exponentials sets to[i] to e^z[i], with z[i] clamped to [-700, 700]. The
// relative error is below 1e-8. It writes x as k*ln 2 + r and uses the Taylor
// series of e^r.
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
