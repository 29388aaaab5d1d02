package inference

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// exactUnits is up to how many units all flips are counted.
const exactUnits = 17

// randomFlips is how many flips are drawn for more units.
const randomFlips = 20_000

// signFlip returns the two-sided p-values of the differences of n figures by a
// sign-flip permutation test (Fisher, The Design of Experiments, 1935, section
// 21): if both policies were alike, each unit could as well have had its rows
// exchanged. With k units up to exactUnits it counts all 2^k exchanges, so the
// lowest p-value is 2/2^k. With more it draws some, and below reports whether
// no drawn one was as extreme, so that the p-value is only a bound.
func signFlip(a, b Rows, f Figures, n int) (p []float64, below []bool) {
	s := newFlipper(a, b, f, n)
	flips := randomFlips
	if len(a) <= exactUnits {
		flips = 1<<(len(a)-1) - 1 // the flips of all units give the other half
		for i := range flips {
			s.flip(bits.TrailingZeros(uint(i + 1))) // in the order of a Gray code, one unit at a time
			s.count()
		}
	} else {
		random := rand.New(rand.NewPCG(seed, 3))
		for range flips {
			for i := range a {
				if random.Uint64()&1 == 1 {
					s.flip(i)
				}
			}
			s.count()
		}
	}
	p, below = make([]float64, n), make([]bool, n)
	for j := range p {
		p[j] = float64(1+s.extreme[j]) / float64(1+flips)
		below[j] = len(a) > exactUnits && s.extreme[j] == 0
		if math.IsNaN(s.observed[j]) {
			p[j], below[j] = math.NaN(), false
		}
	}
	return p, below
}

// A flipper keeps the sums of two policies while units exchange their rows.
type flipper struct {
	figures        Figures
	change         Rows // by unit: second minus first
	first, second  []float64
	flipped        []bool
	observed, x, y []float64
	extreme        []int // flips with a difference at least as large as observed
}

func newFlipper(a, b Rows, f Figures, n int) *flipper {
	s := &flipper{
		figures: f, first: a.sum(), second: b.sum(), flipped: make([]bool, len(a)),
		observed: make([]float64, n), x: make([]float64, n), y: make([]float64, n), extreme: make([]int, n),
	}
	for i := range a {
		row := append([]float64{}, b[i]...)
		add(row, a[i], -1)
		s.change = append(s.change, row)
	}
	s.difference(s.observed)
	return s
}

func (s *flipper) difference(out []float64) {
	s.figures(s.first, s.x)
	s.figures(s.second, s.y)
	for j := range out {
		out[j] = s.y[j] - s.x[j]
	}
}

func (s *flipper) flip(i int) {
	factor := 1.0
	if s.flipped[i] {
		factor = -1
	}
	s.flipped[i] = !s.flipped[i]
	add(s.first, s.change[i], factor)
	add(s.second, s.change[i], -factor)
}

// count counts the figures whose difference is as large as observed, up to
// rounding. A figure without a value counts too.
func (s *flipper) count() {
	s.figures(s.first, s.x)
	s.figures(s.second, s.y)
	for j, want := range s.observed {
		if d := math.Abs(s.y[j] - s.x[j]); !(d < math.Abs(want)*(1-1e-9)) {
			s.extreme[j]++
		}
	}
}
