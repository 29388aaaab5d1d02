package sim

import (
	"encoding/hex"
	"math/rand/v2"
	"time"
)

// A source makes the choices of a simulation. The choices of a step depend only on the
// seed and the number of the step.
type source struct {
	pcg rand.PCG
	rng *rand.Rand
}

func newSource() *source {
	s := &source{}
	s.rng = rand.New(&s.pcg)
	return s
}

// begin starts the choices of a step.
func (s *source) begin(seed uint64, step int) { s.pcg.Seed(seed, uint64(step)*0x9e3779b97f4a7c15+1) }

// below returns a number from 0 to n-1.
func (s *source) below(n int) int { return s.rng.IntN(n) }

// percent is true with a probability of p percent.
func (s *source) percent(p int) bool { return s.rng.IntN(100) < p }

// between returns a duration from lo to hi.
func (s *source) between(lo, hi time.Duration) time.Duration {
	return lo + time.Duration(s.rng.Int64N(int64(hi-lo)+1))
}

// id returns 128 random bits in hex.
func (s *source) id() string {
	var b [16]byte
	for i := range b {
		b[i] = byte(s.rng.Uint32())
	}
	return hex.EncodeToString(b[:])
}

// one returns an element of list.
func one[T any](s *source, list ...T) T { return list[s.rng.IntN(len(list))] }

// weighted returns the index of one of the weights, each with a probability in
// proportion to it. It returns -1 if all are 0.
func (s *source) weighted(weights []int) int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	if sum == 0 {
		return -1
	}
	n := s.rng.IntN(sum)
	for i, w := range weights {
		if n -= w; n < 0 {
			return i
		}
	}
	return -1
}
