package training

import (
	"math"
	"math/rand/v2"
)

// A fit is a conditional logit model (McFadden, 1974): the probability of a row is
// the softmax of the weighted sum of its features. Training maximises the
// likelihood with L2 regularisation towards the initial weights.
type fit struct {
	start  []float64
	pull   float64 // L2, towards start
	epochs int
	only   []bool // features that are trained; nil for all
	rate   float64

	// words, if set, are trained too: the score of a row includes the sum of the
	// weights in its slots, divided by the square root of the number of words.
	words []float64
}

// train maximises the log-likelihood with AdaGrad (Duchi, Hazan and Singer, 2011).
// It shuffles the samples in each epoch and returns the average weights of the
// last epoch.
func (f fit) train(samples []sample) []float64 {
	w := append([]float64(nil), f.start...)
	n := len(w)
	squares, sums, g := make([]float64, n), make([]float64, n), make([]float64, n)
	wordSquares := make([]float64, len(f.words))
	rng := rand.New(rand.NewPCG(7, 7))
	var p []float64
	steps := 0.0
	for epoch := range f.epochs {
		rng.Shuffle(len(samples), func(i, j int) { samples[i], samples[j] = samples[j], samples[i] })
		for i := range samples {
			s := &samples[i]
			p = f.probabilities(s, w, p)
			s.gradient(p, g)
			f.trainWords(s, p, wordSquares)
			for q := range w {
				if f.only != nil && !f.only[q] {
					continue
				}
				d := s.weight*g[q] - f.pull*(w[q]-f.start[q])
				squares[q] += d * d
				w[q] += f.rate * d / (math.Sqrt(squares[q]) + 1e-6)
			}
			if epoch == f.epochs-1 {
				steps++
				for q := range w {
					sums[q] += w[q]
				}
			}
		}
	}
	if steps == 0 {
		return w
	}
	for q := range sums {
		sums[q] /= steps
	}
	return sums
}

// trainWords makes the AdaGrad step of the words.
func (f fit) trainWords(s *sample, p, squares []float64) {
	if len(f.words) == 0 {
		return
	}
	for i := range s.rows {
		d := -p[i]
		if i == s.truth {
			d++
		}
		slots := s.rows[i].slots
		d *= s.weight * share(slots)
		for _, slot := range slots {
			by := d - f.pull*f.words[slot]
			squares[slot] += by * by
			f.words[slot] += wordRate * by / (math.Sqrt(squares[slot]) + 1e-6)
		}
	}
}

// share is 1 divided by the square root of the number of words, which have two
// slots each.
func share(slots []int) float64 {
	if len(slots) == 0 {
		return 0
	}
	return 1 / math.Sqrt(float64(len(slots)/2))
}

// probabilities of the rows under w.
func (f fit) probabilities(s *sample, w, p []float64) []float64 {
	p = p[:0]
	top := math.Inf(-1)
	for i := range s.rows {
		r := &s.rows[i]
		z := 0.0
		for k, q := range r.at {
			z += w[q] * float64(r.x[k])
		}
		if len(f.words) > 0 {
			sum := 0.0
			for _, slot := range r.slots {
				sum += f.words[slot]
			}
			z += sum * share(r.slots)
		}
		top = max(top, z)
		p = append(p, z)
	}
	sum := 0.0
	for i := range p {
		p[i] = float64(s.rows[i].size) * math.Exp(p[i]-top)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// gradient of the log of the true row's probability, by the weights.
func (s *sample) gradient(p, g []float64) {
	clear(g)
	for i := range p {
		d := -p[i]
		if i == s.truth {
			d++
		}
		r := &s.rows[i]
		for k, q := range r.at {
			g[q] += d * float64(r.x[k])
		}
	}
}
