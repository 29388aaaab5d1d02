package adaptive

import (
	"math"
	"strconv"
)

// Sorts of reasons, each a group of features.
const (
	byNaming = iota
	byDebt
	byHabit
	byTiming
	byShare
	byKind
	byTeam
	byWords
	reasonSorts
)

// sortOf says which sort of reason a feature is.
func sortOf(feature int) int {
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

// reason says what speaks for row best: the sort of features that does most
// to set it apart from the average of the rows, all components taken together.
func (r *room) reason(m *model, best int) string {
	if len(r.rows) == 1 && r.rows[best].size == 1 {
		return r.agents[r.rows[best].seat].ID + " is the only other one here"
	}
	var gain [reasonSorts]float64
	for i := range r.rows {
		share := -1 / float64(len(r.rows))
		if i == best {
			share++
		}
		w := &r.rows[i]
		for k, f := range w.at[:w.n] {
			weight := 0.0
			if f < correctable {
				weight = float64(r.correction[f])
			}
			for j, a := range r.weights[:m.n] {
				weight += float64(float64(a) * m.weights[f][j])
			}
			gain[sortOf(int(f))] += float64(float64(share*weight) * w.x[k])
		}
	}
	most := 0
	for s, g := range gain {
		if g > gain[most] {
			most = s
		}
	}
	return r.words(&r.rows[best], most)
}

// words puts a sort of reason into words.
func (r *room) words(w *row, sort int) string {
	id := r.agents[w.seat].ID
	switch sort {
	case byNaming:
		if r.last.voc == uint32(w.id) {
			return id + " is addressed"
		}
		if r.last.names(uint32(w.id)) {
			return id + " is named"
		}
		return "nobody else is named"
	case byDebt:
		return id + " still owes a word"
	case byHabit:
		return id + " usually follows " + r.lastName()
	case byShare:
		return id + " takes most turns"
	case byKind:
		return r.kindReason(w, id)
	case byTeam:
		return id + " followed here in past talks"
	case byWords:
		return "what was said was for " + id + " in past talks"
	}
	switch w.rank {
	case neverSpoke:
		return id + " has not spoken yet"
	case 1:
		return id + " spoke just before " + r.lastName()
	}
	return "it is " + id + "'s turn, as turns go here"
}

func (r *room) kindReason(w *row, id string) string {
	switch {
	case w.tool && r.last.code:
		return id + " runs the code"
	case w.tool:
		return "a tool follows here"
	case w.kind == humanKind:
		return "a person follows here"
	}
	return "an agent follows here"
}

// lastName is the name of the last speaker.
func (r *room) lastName() string {
	if last, _ := r.speakers(); last != 0 {
		if s := r.seatOf(last); s >= 0 {
			return r.agents[s].ID
		}
	}
	return "this"
}

func percent(f float64) string { return strconv.Itoa(int(f*100+.5)) + " %" }

// rounded keeps six decimals, which is more than the figure is worth.
func rounded(f float64) float64 { return math.Round(f*1e6) / 1e6 }
