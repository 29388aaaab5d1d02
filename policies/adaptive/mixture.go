package adaptive

import "math"

// parts is the number of probabilities of a candidate that the laws are made of:
// one for each habit, and the law of the team.
const (
	parts      = habitCount + 1
	partTaught = habitCount
)

// A note is a prediction as the state keeps it: the parts of the people are with
// them, and newcomers have the mean of theirs.
type note struct {
	newcomer [parts]float64
	sums     [laws]float64 // of each law over the candidates
}

// sharedWeight is the share of the weights that returns to the initial weights
// after each turn, so that a law recovers when the room changes. Only ablations change it.
var sharedWeight = 0.04

// initial are the weights of the laws to begin with, without a team. That names mean
// nothing is rare, so these laws begin with a third of the weight. Only ablations change
// them.
var initial = [taught]float64{
	1.0 / 21, 1.0 / 7, 1.0 / 7, // by recency: names mean nothing, who is addressed, who is named
	1.0 / 21, 1.0 / 7, 1.0 / 7, // by airtime
	1.0 / 21, 1.0 / 7, 1.0 / 7, // by sequence
}

// taughtWeight is the initial weight of the law of a team, if there is one.
const taughtWeight = 0.9

// start returns the initial weight of law j.
func (r *room) start(j int) float64 {
	switch {
	case r.team == nil && j == taught:
		return 0
	case r.team == nil:
		return initial[j]
	case j == taught:
		return taughtWeight
	}
	return (1 - taughtWeight) * initial[j]
}

// predict computes the probability of each candidate by the mixture with the
// weights a. A law j is a habit h with a strength s:
//
//	p_j = habit_h factor naming_s / sum of the same    p = sum of a_j p_j
//
// The factor is what the latest turns say whatever the strength.
func (r *room) predict() {
	r.describe()
	if r.team != nil {
		r.teach()
	}
	r.note = note{}
	sums := &r.note.sums
	for i := range r.rows {
		w := &r.rows[i]
		factor := w.role
		if w.tool && r.last.code {
			factor *= codeFactor
		}
		for h := range habitCount {
			w.part[h] = fine(w.habit[h] * factor)
		}
		for j := range sums {
			sums[j] += w.law(j)
		}
		if w.person == newcomer {
			for k := range w.part {
				r.note.newcomer[k] += w.part[k]
			}
		} else {
			r.people[w.person].part = w.part
		}
	}
	for k := range r.note.newcomer {
		r.note.newcomer[k] = fine(r.note.newcomer[k] / float64(max(r.newcomers, 1)))
	}
	for j := range sums {
		sums[j] = fine(sums[j])
	}
	for i := range r.rows {
		w := &r.rows[i]
		w.p = 0
		for j, sum := range sums {
			if sum > 0 {
				w.p += r.weights[j] * w.law(j) / sum
			}
		}
		w.p = fine(min(w.p, 1))
	}
}

// law returns what law j gives the row, before it is normalised.
func (w *row) law(j int) float64 {
	if j == taught {
		return w.part[partTaught]
	}
	return w.part[j/strengths] * w.naming[j%strengths]
}

// learn updates the weights from the prediction for the turn that id has taken.
// Bayes' rule is tempered with the power 1/2, because turns are not independent,
// and a fixed share returns to the initial weights:
//
//	a_j <- a_j sqrt(p_j(y) + 1e-6), normalised; a_j <- (1-share) a_j + share start_j
func (r *room) learn(id string) {
	if r.note.sums[0] == 0 {
		return // there is no prediction
	}
	y := row{part: r.note.newcomer, naming: r.last.naming(id)}
	if rank := r.rank(id); rank >= 0 {
		y.part = r.people[rank].part
	}
	sum := 0.0
	for j := range r.weights {
		if all := r.note.sums[j]; all > 0 {
			r.weights[j] *= math.Sqrt(y.law(j)/all + 1e-6)
		}
		sum += r.weights[j]
	}
	for j := range r.weights {
		r.weights[j] = fine((1-sharedWeight)*r.weights[j]/sum + sharedWeight*r.start(j))
	}
}

// fine rounds to six decimals. The state keeps as many, so that a prediction is the
// same before and after it is written.
func fine(f float64) float64 { return math.Floor(f*fineUnit+.5) / fineUnit }

const fineUnit = 1e6
