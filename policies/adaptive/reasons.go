package adaptive

import (
	"math"
	"math/bits"
)

// Sorts of reasons, each a group of features.
const (
	byTiming = iota // the default
	byNaming
	byDebt
	byHabit
	byShare
	byKind
	byTeam
	byWords
	reasonSorts
)

// sortOf says which sort of reason a feature is.
var sortOf = func() (s [features]uint8) {
	for f := range s {
		s[f] = uint8(sortOfFeature(f))
	}
	return s
}()

func sortOfFeature(feature int) int {
	switch {
	case feature == fWords:
		return byWords
	case feature >= roomFeatures:
		return byTeam
	case feature >= fAddressed && feature <= fNamedLastByAgent:
		return byNaming
	case feature >= fPending && feature <= fNamedBefore:
		return byDebt
	}
	switch feature {
	case fPair, fTriple, fTopPair, fTopTriple:
		return byHabit
	case fTurns, fTurnsFast, fTurnsShort, fTurnsQuestion:
		return byShare
	case fKind, fCodeForTool, fTool, fPerson:
		return byKind
	}
	return byTiming
}

// reason appends what speaks for row best: the sort of features that does most
// to set it apart from the likeliest other row, in the eyes of the component
// that is trusted most.
func (r *room) reason(to []byte, m *model, best int) []byte {
	if len(r.rows) == 1 && r.rows[best].size == 1 {
		return say(to, r.agents[r.rows[best].seat].ID, " is the only other one here")
	}
	var none [features]float64
	other := &none
	if second := r.second(best); second >= 0 {
		other = &r.rows[second].x
	}
	var gain [reasonSorts]float64
	w, trusted := &r.rows[best], r.trusted(m)
	for set := w.has; set != 0; set &= set - 1 {
		if f := bits.TrailingZeros64(set); f < features {
			gain[sortOf[f]] += float64(r.weightOf(m, trusted, f) * (w.x[f] - other[f]))
		}
	}
	most := 0
	for s, g := range gain {
		if g > gain[most] {
			most = s
		}
	}
	return r.words(to, w, most)
}

// second returns the likeliest row but one, or -1.
func (r *room) second(best int) int {
	second := -1
	for i := range r.rows {
		if i != best && (second < 0 || r.rows[i].p > r.rows[second].p) {
			second = i
		}
	}
	return second
}

// trusted returns the component that has the most weight.
func (r *room) trusted(m *model) int {
	most := 0
	for j, a := range r.weights[:m.n] {
		if a > r.weights[most] {
			most = j
		}
	}
	return most
}

// weightOf is the weight of a feature in component j.
func (r *room) weightOf(m *model, j, f int) float64 {
	weight := 0.0
	if f < correctable {
		weight = r.correction[f]
	}
	if j < m.vectors {
		return weight + *m.weight(f, j)
	}
	return weight + ruleWeights[f][j-m.vectors]
}

// say appends texts.
func say(to []byte, texts ...string) []byte {
	for _, s := range texts {
		to = append(to, s...)
	}
	return to
}

// words appends a sort of reason in words.
func (r *room) words(to []byte, w *row, sort int) []byte {
	id := r.agents[w.seat].ID
	switch sort {
	case byNaming:
		if r.last.voc == w.id {
			return say(to, id, " is addressed")
		}
		if len(r.people) > 0 && r.people[0].named.has(w.id) {
			return say(to, id, " is named")
		}
		return say(to, "nobody else is named")
	case byDebt:
		return say(to, id, " still owes a word")
	case byHabit:
		return say(to, id, " usually follows ", r.lastName())
	case byShare:
		return say(to, id, " takes most turns")
	case byKind:
		return r.kindReason(to, w, id)
	case byTeam:
		return say(to, id, " followed here in past talks")
	case byWords:
		return say(to, "what was said was for ", id, " in past talks")
	}
	switch w.rank {
	case neverSpoke:
		return say(to, id, " has not spoken yet")
	case 1:
		return say(to, id, " spoke just before ", r.lastName())
	}
	return say(to, "it is ", id, "'s turn, as turns go here")
}

func (r *room) kindReason(to []byte, w *row, id string) []byte {
	switch {
	case w.tool && r.last.code:
		return say(to, id, " runs the code")
	case w.tool:
		return say(to, "a tool follows here")
	case w.kind == humanKind:
		return say(to, "a person follows here")
	}
	return say(to, "an agent follows here")
}

// lastName is the name of the last speaker.
func (r *room) lastName() string {
	if last, _ := r.speakers(); last != 0 {
		if s := r.seats.find(last); s >= 0 {
			return r.agents[s].ID
		}
	}
	return "this"
}

// rounded keeps six decimals, which is more than the figure is worth.
func rounded(f float64) float64 { return math.Floor(float64(f*1e6)+.5) / 1e6 }
