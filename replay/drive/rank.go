package drive

import (
	"math"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/history"
)

// rankOf returns the rank, from 1, that d gives to the seat truth among the
// candidates. Its choice is first. Then a higher score, a later last message
// and byte order of the IDs decide, in this order. It is 0 for a decision that
// chooses no seat.
func rankOf(p *history.Point, d *policy.Decision, choice, truth int) int {
	if d.Action != policy.ActionSpeak {
		return 0
	}
	if choice == truth {
		return 1
	}
	var buffer [32]float64
	r := ranking{p: p, choice: choice, scores: appendScores(buffer[:0], p, d)}
	rank := 1
	for _, c := range p.Candidates {
		if c != truth && r.before(c, truth) {
			rank++
		}
	}
	return rank
}

// appendScores appends the scores of d by seat; -Inf where there is none.
func appendScores(s []float64, p *history.Point, d *policy.Decision) []float64 {
	for range p.History.Seats {
		s = append(s, math.Inf(-1))
	}
	for _, x := range d.Scores {
		if seat, ok := p.History.SeatOf(x.Agent); ok {
			s[seat] = x.Score
		}
	}
	return s
}

// A ranking orders candidates.
type ranking struct {
	p      *history.Point
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
	return spokeLater(r.p, a, b)
}

// spokeLater breaks ties: the seat that spoke later comes first, one that never
// spoke last, and then byte order of the IDs decides.
func spokeLater(p *history.Point, a, b int) bool {
	if p.LastSpoke[a] != p.LastSpoke[b] {
		return p.LastSpoke[a] > p.LastSpoke[b]
	}
	return p.History.Seats[a].Rank < p.History.Seats[b].Rank
}
