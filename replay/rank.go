package replay

import (
	"math"

	"github.com/folkmoot/moot/policies/policy"
)

// rank returns the place, from 1, that a decision gives to the seat truth
// among the candidates: its choice comes first, then the higher score, then
// who spoke more recently, never spoken last, then byte order of ids. It is 0
// for a decision that chooses nobody.
func (p *point) rank(d *policy.Decision, choice, truth int) int {
	if d.Action != policy.ActionSpeak {
		return 0
	}
	if choice == truth {
		return 1
	}
	var room [32]float64
	r := ranking{p: p, choice: choice, scores: p.scores(room[:0], d)}
	place := 1
	for _, c := range p.candidates {
		if c != truth && r.before(c, truth) {
			place++
		}
	}
	return place
}

// scores appends to s the scores of d by seat; -Inf where there is none.
func (p *point) scores(s []float64, d *policy.Decision) []float64 {
	for range p.h.seats {
		s = append(s, math.Inf(-1))
	}
	for _, x := range d.Scores {
		if i, ok := p.h.index[x.Agent]; ok {
			s[i] = x.Score
		}
	}
	return s
}

// A ranking orders candidates.
type ranking struct {
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
	}
	return r.p.fresher(a, b)
}

// fresher breaks ties: who spoke more recently comes first, never spoken
// last, then byte order of ids.
func (p *point) fresher(a, b int) bool {
	if p.when[a] != p.when[b] {
		return p.when[a] > p.when[b]
	}
	return p.h.seats[a].rank < p.h.seats[b].rank
}
