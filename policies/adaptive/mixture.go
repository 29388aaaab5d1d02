package adaptive

import (
	"math"

	"github.com/folkmoot/moot/policies/policy"
)

// A rule scores a candidate by a weighted sum of its features; the softmax of
// the scores is its probability.
type rule struct {
	trigram, recency, share, addressed, lastNamed, person float64
}

const ruleCount = 7

// The rules were written by hand, not fitted. The last suits rooms of agents,
// which say whom they hand over to.
var rules = [ruleCount]rule{
	{trigram: 1},
	{trigram: 1, addressed: 3},
	{trigram: 1, addressed: 3, lastNamed: 2},
	{trigram: .7, addressed: 7, lastNamed: 6},
	{recency: 1},
	{share: 1},
	{trigram: .7, addressed: 4, lastNamed: 2.5, person: -2},
}

const agentRule = ruleCount - 1

// How the weights of the rules move: with the power learn of the probability
// that a rule gave to what happened, and a little back to where they began,
// so that a rule can recover when the room changes its ways.
const (
	learn = 0.4
	share = 0.01
	floor = 1e-6
)

// start is how much a rule is trusted before the first turn.
func (r *room) start() (w [ruleCount]float64) {
	agents := 0
	for i := range r.agents {
		if r.agents[i].Kind != policy.Human {
			agents++
		}
	}
	sum := 0.0
	for j := range w {
		w[j] = 1
		if j == agentRule && 2*agents >= len(r.agents) && agents > 0 {
			w[j] = 32
		}
		sum += w[j]
	}
	for j := range w {
		w[j] /= sum
	}
	return w
}

// foresee gives every candidate its probability.
func (r *room) foresee() []row {
	rows := r.candidates()
	for j := range rules {
		rules[j].apply(j, rows)
	}
	w := r.weights
	if w == [ruleCount]float64{} {
		w = r.start()
	}
	for i := range rows {
		for j := range w {
			rows[i].p += float64(w[j] * rows[i].each[j])
		}
	}
	return rows
}

// apply fills in what rule j makes of each row.
func (l *rule) apply(j int, rows []row) {
	top := math.Inf(-1)
	for i := range rows {
		f := &rows[i].f
		z := float64(l.trigram*f.trigram) + float64(l.recency*f.recency) + float64(l.share*f.share) +
			float64(l.addressed*f.addressed) + float64(l.lastNamed*f.lastNamed) + float64(l.person*f.person)
		rows[i].each[j] = z
		top = max(top, z)
	}
	sum := 0.0
	for i := range rows {
		rows[i].each[j] = math.Exp(rows[i].each[j] - top)
		sum += rows[i].each[j]
	}
	for i := range rows {
		rows[i].each[j] /= sum
	}
}

// weigh moves the weights towards the rules that foresaw id.
func (r *room) weigh(id string) {
	if r.turns == 0 {
		return
	}
	rows := r.foresee()
	start := r.start()
	if r.weights == [ruleCount]float64{} {
		r.weights = start
	}
	for i := range rows {
		if r.agents[rows[i].seat].ID != id {
			continue
		}
		sum := 0.0
		for j := range r.weights {
			r.weights[j] *= math.Exp(learn * math.Log(rows[i].each[j]+floor))
			sum += r.weights[j]
		}
		for j := range r.weights {
			r.weights[j] = float64((1-share)*r.weights[j]/sum) + float64(share*start[j])
		}
		return
	}
}
