package adaptive

import (
	"math"
	"math/bits"
)

// Sorts of reasons. Each is a group of features.
const (
	byTiming = iota // the default
	byNaming
	byPending
	byHabit
	byShare
	byKind
	byTeam
	byWords
	reasonSorts
)

// sortOf is the sort of reason of each feature.
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
		return byPending
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

// reason appends the reason for row best: the group of features that adds most to
// its score, compared with the second most likely row, in the component with the
// largest weight.
func (r *room) reason(to []byte, m *model, best int) []byte {
	if len(r.rows) == 1 && r.rows[best].size == 1 {
		return appendAll(to, r.agents[r.rows[best].seat].ID, " is the only other participant")
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

// second returns the most likely row except best, or -1.
func (r *room) second(best int) int {
	second := -1
	for i := range r.rows {
		if i != best && (second < 0 || r.rows[i].p > r.rows[second].p) {
			second = i
		}
	}
	return second
}

// trusted returns the component with the largest weight.
func (r *room) trusted(m *model) int {
	most := 0
	for j, a := range r.weights[:m.n] {
		if a > r.weights[most] {
			most = j
		}
	}
	return most
}

// weightOf returns the weight of feature f in component j.
func (r *room) weightOf(m *model, j, f int) float64 {
	weight := 0.0
	if f < correctable {
		weight = r.correction[f]
	}
	if j < m.vectors {
		return weight + *m.weight(f, j)
	}
	return weight + heuristicWeights[f][j-m.vectors]
}

// appendAll appends texts.
func appendAll(to []byte, texts ...string) []byte {
	for _, s := range texts {
		to = append(to, s...)
	}
	return to
}

// words appends the sentence for a sort of reason.
func (r *room) words(to []byte, w *row, sort int) []byte {
	id := r.agents[w.seat].ID
	switch sort {
	case byNaming:
		if r.last.voc == w.id {
			return appendAll(to, id, " is addressed")
		}
		if len(r.people) > 0 && r.people[0].named.has(w.id) {
			return appendAll(to, id, " is named")
		}
		return appendAll(to, "no other participant is named")
	case byPending:
		return appendAll(to, id, " has not answered yet")
	case byHabit:
		return appendAll(to, id, " usually follows ", r.lastName())
	case byShare:
		return appendAll(to, id, " speaks most often")
	case byKind:
		return r.kindReason(to, w, id)
	case byTeam:
		return appendAll(to, id, " spoke here in past conversations of the team")
	case byWords:
		return appendAll(to, id, " answered such messages in past conversations of the team")
	}
	switch w.rank {
	case neverSpoke:
		return appendAll(to, id, " has not spoken yet")
	case 1:
		return appendAll(to, id, " spoke just before ", r.lastName())
	}
	return appendAll(to, id, " is next in the usual order")
}

func (r *room) kindReason(to []byte, w *row, id string) []byte {
	switch {
	case w.tool && r.last.code:
		return appendAll(to, id, " runs the code")
	case w.tool:
		return appendAll(to, "a tool usually speaks next here")
	case w.kind == humanKind:
		return appendAll(to, "a person usually speaks next here")
	}
	return appendAll(to, "an agent usually speaks next here")
}

// lastName returns the id of the last speaker.
func (r *room) lastName() string {
	if last, _ := r.speakers(); last != 0 {
		if s := r.seats.find(last); s >= 0 {
			return r.agents[s].ID
		}
	}
	return "the last speaker"
}

// rounded rounds to six decimals.
func rounded(f float64) float64 { return math.Floor(float64(f*1e6)+.5) / 1e6 }
