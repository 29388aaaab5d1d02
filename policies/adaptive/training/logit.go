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
	pull       = 3e-3  // L2 regularisation
)

// fit trains the weights of a team: a conditional logit model (McFadden, 1974), in
// which the probability of a candidate is the softmax of the weighted sum of its
// features. AdaGrad (Duchi, Hazan and Singer, 2011) maximises the likelihood, in
// random order in each epoch.
func fit(team *adaptive.Team, examples []adaptive.Study) {
	m := model{w: team.Weights, squares: make([]float64, adaptive.Slots)}
	rng := rand.New(rand.NewPCG(7, 7))
	for range epochs {
		rng.Shuffle(len(examples), func(i, j int) { examples[i], examples[j] = examples[j], examples[i] })
		for i := range examples {
			m.learn(&examples[i])
		}
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
			by, speed := slope*f.X-pull*m.w[f.Slot], hashedRate
			if f.Slot < adaptive.CommonFeatures {
				speed = rate
			}
			m.squares[f.Slot] += by * by
			m.w[f.Slot] += speed * by / (math.Sqrt(m.squares[f.Slot]) + 1e-6)
		}
	}
}
