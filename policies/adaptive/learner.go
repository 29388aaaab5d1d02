package adaptive

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// onlineWeights are the weights that the mixture learns in a room.
type onlineWeights struct {
	weighed    bool                 // weights are set
	components int                  // number of components in the decoded state
	weights    [components]float64  // of the components; they sum to 1
	correction [correctable]float64 // added to the feature weights of all components
}

const (
	// tempering is the exponent of the likelihood in Bayes' rule. It is below 1
	// because turns are not independent.
	tempering = 0.4
	// shared is the share of the weights that returns to the initial weights after
	// each turn, so that a component recovers when the room changes.
	shared = 0.01
	// step is the learning rate of the feature weights.
	step = 0.004
)

// leastLog is ln 1e-6, the floor of a likelihood. One wrong prediction does not
// exclude a component for ever.
const leastLog = -13.815510557964274

// evidence is the prediction for the actual next speaker.
type evidence struct {
	logs     [components]float64 // ln of the probability by each component
	has      uint64              // as in a row
	x        [features]float64
	expected [correctable]float64 // sum of p(c) f(c)
}

// learn updates the weights from the prediction and the actual speaker y:
//
//	a_j <- a_j max(p_j(y), 1e-6)^tempering, normalised; a_j <- (1-shared) a_j + shared start_j
//	d   <- d + step (f(y) - sum of p(c) f(c))
//
// The first line is the fixed-share update (Herbster and Warmuth, 1998) with a
// tempered likelihood. The second is a step of stochastic gradient ascent on
// ln p(y), with the mixture treated as one softmax regression.
func (r *room) learn(m *model, id uint32) {
	if r.turns == 0 {
		return // there is no prediction before the first turn
	}
	e := &r.seen
	if !r.evidenceFromState(m, id) {
		if !r.current {
			r.predict(m)
		}
		if !r.evidenceFromRows(m, id) {
			return
		}
	}
	start, sum := r.begin(m), 0.0
	for j := range m.n {
		e.logs[j] *= tempering
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

// evidenceFromRows computes the evidence from the rows. It reports false if no
// row stands for id.
func (r *room) evidenceFromRows(m *model, id uint32) bool {
	y := r.rowFor(id)
	if y < 0 {
		return false
	}
	r.evidence(m, y)
	r.expect()
	return true
}

// evidence sets the evidence of row y.
func (r *room) evidence(m *model, y int) {
	w, e := &r.all[y], &r.seen
	size := ln(w.size)
	for j := range m.n {
		e.logs[j] = atLeast(w.z[j]+size-r.sums[j], leastLog)
	}
	e.has, e.x = w.has, w.x
}

// atLeast is max(x, least) without the handling of NaN.
func atLeast(x, least float64) float64 {
	if x < least {
		return least
	}
	return x
}

// expect computes the expected features: the sum of p(c) f(c) over the rows.
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

// rowFor returns the index of the row that stands for id, or -1.
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

// fine rounds a weight to the precision of the state.
func fine(f float64) float64 { return math.Floor(float64(f*fineUnit)+.5) * (1.0 / fineUnit) }

// fraction rounds a decaying count to the precision of the state.
func fraction(f float64) float64 {
	return math.Floor(float64(f*fractionUnit)+.5) * (1.0 / fractionUnit)
}

// Precisions of the state, in parts of 1. They are powers of 2, so that rounded
// numbers are encoded exactly.
const (
	fineUnit     = 1 << 20
	fractionUnit = 1 << 16
)

// The state holds the prediction, so that the next decision can learn from it
// without computing it again, which would double the cost of a decision. Each
// row has a record. The next decision reads the record of the actual speaker.

// prediction is the prediction for the next turn.
type prediction struct {
	current bool     // the rows describe the turn after the latest one
	noted   []byte   // the records in the state
	seen    evidence // of the actual speaker
}

// A record holds the id of the row, the set of its features that are not 0, and
// the values of those that are not facts, in parts of 1/valueUnit. The scores of
// the components are computed again for one row, which costs less than encoding
// those of all rows.
const (
	recordBytes  = 12
	valueUnit    = 2048
	expectedUnit = 1 << 20
	sumUnit      = 1 << 20
)

// groupBit marks the record of a group, whose size follows.
const groupBit = 63

// note encodes the prediction: the expected features, the softmax denominators
// of the components, and a record for each row.
func (r *room) note(p *encoder, m *model) {
	r.expect()
	p.byte(m.n)
	p.parts(r.seen.expected[:m.corrected()], expectedUnit)
	p.parts(r.sums[:m.n], sumUnit)
	p.byte(len(r.rows))
	for i := range r.rows {
		p.record(&r.rows[i])
	}
}

// record encodes a row.
func (p *encoder) record(w *row) {
	b := (*[recordBytes]byte)(p.more(recordBytes))
	group := w.size > 1
	binary.LittleEndian.PutUint32(b[0:], w.id)
	binary.LittleEndian.PutUint64(b[4:], w.has|uint64(sign(group))<<groupBit)
	if group {
		p.number(uint32(w.size))
	}
	start, at := len(p.b), 0
	values := (*[2 * 64]byte)(p.more(2 * 64))
	for set := w.has &^ facts; set != 0; set &= set - 1 {
		f := bits.TrailingZeros64(set)
		if f >= features {
			break
		}
		binary.LittleEndian.PutUint16(values[at&126:], uint16(within16(w.x[f]*valueUnit)))
		at += 2
	}
	p.b = p.b[:start+at]
}

// evidenceFromState decodes the evidence of id from the records. It reports false
// if the records are of an earlier turn or have none for id.
func (r *room) evidenceFromState(m *model, id uint32) bool {
	if r.noted == nil || r.current {
		return false
	}
	in := decoder{b: r.noted}
	r.noted = nil
	if in.below(256) != m.n {
		return false
	}
	e := &r.seen
	e.expected = [correctable]float64{}
	in.parts(e.expected[:m.corrected()], 1.0/expectedUnit)
	in.parts(r.sums[:m.n], 1.0/sumUnit)
	for n := in.below(maxRows + 1); n > 0 && !in.failed; n-- {
		b := (*[recordBytes]byte)(in.take(recordBytes))
		who, has, size := binary.LittleEndian.Uint32(b[0:]), binary.LittleEndian.Uint64(b[4:]), 1.0
		if has>>groupBit != 0 {
			has, size = has&^(1<<groupBit), float64(in.count())
		}
		values := has &^ facts
		if has>>features != 0 || size < 1 {
			return false
		}
		if who == id || size > 1 && r.rank(id) == neverSpoke && r.seats.find(id) >= 0 {
			w := &r.all[0]
			w.has, w.size, w.x = has, size, [features]float64{}
			in.values(w)
			if in.failed {
				return false
			}
			r.scoreRow(m, 0)
			r.evidence(m, 0)
			return true
		}
		in.take(2 * bits.OnesCount64(values))
	}
	return false
}

// values decodes the features of a row.
func (r *decoder) values(w *row) {
	for set := w.has; set != 0; set &= set - 1 {
		f := bits.TrailingZeros64(set)
		if w.x[f] = 1; facts>>f&1 == 0 {
			w.x[f] = float64(int16(r.word())) * (1.0 / valueUnit)
		}
	}
}
