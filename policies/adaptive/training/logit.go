package training

import (
	"math"
	"math/rand/v2"

	"github.com/folkmoot/moot/policies/adaptive"
)

// Parameters of the training.
const (
	epochs   = 4
	rate     = 0.1  // of AdaGrad, for the features
	wordRate = 0.05 // for the words
	pull     = 1e-4 // L2 regularisation
)

// An example is a decision for training.
type example adaptive.Study

// fit trains the weights of a team: a conditional logit model (McFadden, 1974), in
// which the probability of a candidate is the softmax of the weighted sum of its
// features. AdaGrad (Duchi, Hazan and Singer, 2011) maximises the likelihood, in
// random order in each epoch. The weights of the features are the averages of the
// last epoch.
func fit(team *adaptive.Team, examples []example) {
	team.Words = make([]float64, adaptive.WordSlots)
	w := [adaptive.Features]float64{adaptive.Sequence: 1} // the weights to begin with
	start, squares, sums := w, w, w
	clear(squares[:])
	clear(sums[:])
	wordSquares := make([]float64, adaptive.WordSlots)
	rng := rand.New(rand.NewPCG(7, 7))
	var p []float64
	for epoch := range epochs {
		rng.Shuffle(len(examples), func(i, j int) { examples[i], examples[j] = examples[j], examples[i] })
		for i := range examples {
			e := &examples[i]
			p = e.softmax(w[:], team.Words, p[:0])
			var g [adaptive.Features]float64
			for k := range e.Rows {
				for f, x := range e.Rows[k].X {
					g[f] += e.error(k, p) * x
				}
				e.fitWords(k, e.error(k, p), team.Words, wordSquares)
			}
			for f := range w {
				step(&w[f], g[f]-pull*(w[f]-start[f]), &squares[f], rate)
				if epoch == epochs-1 {
					sums[f] += w[f]
				}
			}
		}
	}
	for f := range sums {
		team.Weights[f] = sums[f] / float64(max(len(examples), 1))
	}
}

// step makes a step of AdaGrad.
func step(w *float64, by float64, squares *float64, rate float64) {
	*squares += by * by
	*w += rate * by / (math.Sqrt(*squares) + 1e-6)
}

// error is what the probability of row k lacks: the derivative of the logarithm of
// the likelihood by the score of the row.
func (e *example) error(k int, p []float64) float64 {
	if k == e.Truth {
		return 1 - p[k]
	}
	return -p[k]
}

func (e *example) fitWords(k int, by float64, words, squares []float64) {
	slots := e.Rows[k].Slots
	by /= math.Sqrt(max(float64(len(slots)/2), 1))
	for _, s := range slots {
		step(&words[s], by-pull*words[s], &squares[s], wordRate)
	}
}

// softmax appends the probabilities of the rows.
func (e *example) softmax(w, words, p []float64) []float64 {
	most, sum := math.Inf(-1), 0.0
	for k := range e.Rows {
		c, z := &e.Rows[k], 0.0
		for _, s := range c.Slots {
			z += words[s]
		}
		z /= math.Sqrt(max(float64(len(c.Slots)/2), 1))
		for f, x := range c.X {
			z += w[f] * x
		}
		most = max(most, z)
		p = append(p, z)
	}
	for k := range p {
		p[k] = math.Exp(p[k] - most)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}
