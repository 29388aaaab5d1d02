package adaptive

import (
	"math"
	"math/bits"
)

// learnt is what the mixture learns from a room.
type learnt struct {
	weighed    bool                 // weights are set
	components int                  // for how many, in the state that was read
	weights    [components]float64  // of the components; they sum to 1
	correction [correctable]float64 // to the weights of all components alike
}

const (
	// temper is the power of a component's probability that counts as evidence.
	// Turns are not independent, so that less than 1 is right.
	temper = 0.4
	// shared is the part of the weights that returns to where they began, so
	// that a component can recover when the room changes its ways.
	shared = 0.01
	// step is how far the weights of features move for one turn.
	step = 0.004
)

// leastLog is ln of a millionth: the least probability that counts against a
// component, so that one that was wrong once is not out for good.
const leastLog = -13.815510557964274

// evidence is what was foreseen of somebody who did speak.
type evidence struct {
	logs     [components]float64 // ln of the probability by each component
	has      uint64              // as of a row
	x        [features]float64
	expected [correctable]float64 // sum of p(c) f(c)
}

// learn compares what was foreseen with who did speak, y.
//
//	a_j <- a_j max(p_j(y), 1e-6)^temper, normalised; a_j <- (1-shared) a_j + shared start_j
//	d   <- d + step (f(y) - sum of p(c) f(c))
//
// The first is Bayes' rule, tempered, with a fixed share; the second a step up
// the gradient of ln p(y) as if the mixture were one softmax.
func (r *room) learn(m *model, id uint32) {
	if r.turns == 0 {
		return // nothing was foreseen before the first turn
	}
	e := &r.seen
	if !r.recall(m, id) {
		if !r.current {
			r.foresee(m)
		}
		if !r.witness(m, id) {
			return
		}
	}
	start, sum := r.begin(m), 0.0
	for j := range m.n {
		e.logs[j] *= temper
	}
	exponentials(e.logs[:m.n], e.logs[:m.n])
	for j := range m.n {
		r.weights[j] *= e.logs[j]
		sum += r.weights[j]
	}
	keep := (1 - shared) / sum
	for j := range m.n {
		r.weights[j] = fine(float64(keep*r.weights[j]) + float64(shared*start[j]))
	}
	for f := range e.expected[:] {
		if by := e.expected[f]; by != 0 {
			r.correction[f] -= float64(step * by)
		}
	}
	for set := e.has & corrected; set != 0; set &= set - 1 {
		if f := bits.TrailingZeros64(set); f < correctable {
			r.correction[f] += float64(step * e.x[f])
		}
	}
	for f := range r.correction {
		r.correction[f] = fine(r.correction[f])
	}
}

// witness takes the evidence from the rows, and reports whether one stands
// for id.
func (r *room) witness(m *model, id uint32) bool {
	y := r.rowFor(id)
	if y < 0 {
		return false
	}
	r.evidence(m, y)
	r.expect()
	return true
}

// evidence takes what row y says.
func (r *room) evidence(m *model, y int) {
	w, e := &r.all[y], &r.seen
	size := ln(w.size)
	for j := range m.n {
		e.logs[j] = atLeast(w.z[j]+size-r.sums[j], leastLog)
	}
	e.has, e.x = w.has, w.x
}

// atLeast is max without its care for what is no number.
func atLeast(x, least float64) float64 {
	if x < least {
		return least
	}
	return x
}

// expect sums up the features of the rows by their probabilities.
func (r *room) expect() {
	e := &r.seen
	e.expected = [correctable]float64{}
	for i := range r.rows {
		w := &r.rows[i]
		for set := w.has & corrected; set != 0; set &= set - 1 {
			if f := bits.TrailingZeros64(set); f < correctable {
				e.expected[f] += float64(w.p * w.x[f])
			}
		}
	}
}

// rowFor returns the row that stands for id, or -1.
func (r *room) rowFor(id uint32) int {
	group := -1
	for i := range r.rows {
		if w := &r.rows[i]; w.id == id && w.size == 1 {
			return i
		} else if w.size > 1 {
			group = i
		}
	}
	if group >= 0 && r.rank(id) == neverSpoke && r.seats.find(id) >= 0 {
		return group
	}
	return -1
}

// fine rounds to what a state holds of a weight.
func fine(f float64) float64 { return math.Floor(float64(f*fineUnit)+.5) * (1.0 / fineUnit) }

// fraction rounds to what a state holds of a count that fades.
func fraction(f float64) float64 {
	return math.Floor(float64(f*fractionUnit)+.5) * (1.0 / fractionUnit)
}

// Parts of 1 that a state counts in. They are powers of 2, so that nothing is
// lost on the way.
const (
	fineUnit     = 1 << 20
	fractionUnit = 1 << 16
)
