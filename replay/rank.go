package replay

import (
	"math"

	"github.com/folkmoot/moot/policies/policy"
)

// rank returns the place, from 1, that a decision gives to the seat truth
// among the candidates: its choice comes first, then the higher score, then
// who spoke more recently, never spoken last, then byte order of ids. It is 0
// for a decision that chooses nobody.
func (h *history) rank(d policy.Decision, in *policy.Input, p *point, truth int) int {
	if d.Action != policy.ActionSpeak {
		return 0
	}
	r := ranking{h: h, p: p, choice: h.index[d.Agent], scores: make([]float64, len(h.seats))}
	for i := range r.scores {
		r.scores[i] = math.Inf(-1)
	}
	for _, s := range d.Scores {
		if i, ok := h.index[s.Agent]; ok {
			r.scores[i] = s.Score
		}
	}
	place := 1
	for i := range in.Agents {
		c := h.index[in.Agents[i].ID]
		if in.Agents[i].Eligible && c != truth && r.before(c, truth) {
			place++
		}
	}
	return place
}

// A ranking orders candidates.
type ranking struct {
	h      *history
	p      *point
	choice int
	scores []float64 // by seat
}

func (r *ranking) before(a, b int) bool {
	switch {
	case a == r.choice || b == r.choice:
		return a == r.choice
	case r.scores[a] != r.scores[b]:
		return r.scores[a] > r.scores[b]
	case r.p.when[a] != r.p.when[b]:
		return r.p.when[a] > r.p.when[b]
	}
	return r.h.seats[a].rank < r.h.seats[b].rank
}
