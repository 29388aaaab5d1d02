package training

import (
	"math"
	"math/rand/v2"

	"github.com/folkmoot/moot/policies/adaptive"
)

// Parameters of the training.
const (
	epochs     = 8
	rate       = 0.1   // of AdaGrad, for the features that every team has
	hashedRate = 0.015 // for those of participants and words
	pull       = 3e-3  // L2 regularisation, towards the weights to begin with
	meanEvery  = 32    // examples of the last epoch from one set of weights in the mean to the next
)

// fit trains the weights of a team: a conditional logit model (McFadden, 1974), in
// which the probability of a candidate is the softmax of the weighted sum of its
// features. AdaGrad (Duchi, Hazan and Singer, 2011) maximises the likelihood, in
// random order in each epoch. The result is the mean of the weights in the last epoch.
func fit(team *adaptive.Team, examples []adaptive.Study) {
	m := model{w: team.Weights, squares: make([]float64, adaptive.Slots)}
	sum, n := make([]float64, adaptive.Slots), 0.0
	rng := rand.New(rand.NewPCG(7, 7))
	for epoch := range epochs {
		rng.Shuffle(len(examples), func(i, j int) { examples[i], examples[j] = examples[j], examples[i] })
		for i := range examples {
			m.learn(&examples[i])
			if epoch == epochs-1 && i%meanEvery == 0 {
				n++
				for slot, w := range m.w {
					sum[slot] += w
				}
			}
		}
	}
	for slot := range sum {
		team.Weights[slot] = sum[slot] / max(n, 1)
	}
}

// A model holds the weights in training, and the sums of the squares of their steps.
type model struct {
	w, squares []float64
	p          []float64 // of the candidates of an example
}

// learn makes a step of AdaGrad for each feature of each candidate. The derivative of
// the log-likelihood by the score of a candidate is 1 or 0, the truth, minus its
// probability.
func (m *model) learn(e *adaptive.Study) {
	m.p = m.p[:0]
	for _, x := range e.Rows {
		m.p = append(m.p, adaptive.Score(m.w, x))
	}
	adaptive.Softmax(m.p)
	for k, x := range e.Rows {
		slope := -m.p[k]
		if k == e.Truth {
			slope++
		}
		for _, f := range x {
			m.step(f.Slot, slope*f.X)
		}
	}
}

func (m *model) step(slot int, by float64) {
	start, speed := 0.0, hashedRate
	if slot < adaptive.CommonFeatures {
		speed = rate
	}
	if slot == adaptive.Sequence {
		start = 1
	}
	by -= pull * (m.w[slot] - start)
	m.squares[slot] += by * by
	m.w[slot] += speed * by / (math.Sqrt(m.squares[slot]) + 1e-6)
}
