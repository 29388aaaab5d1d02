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
	scores := buffer[:0] // by seat; -Inf where there is none
	for range p.History.Seats {
		scores = append(scores, math.Inf(-1))
	}
	for _, x := range d.Scores {
		if seat, ok := p.History.SeatOf(x.Agent); ok {
			scores[seat] = x.Score
		}
	}
	rank := 1
	for _, c := range p.Candidates {
		if c == choice || c != truth && (scores[c] > scores[truth] || scores[c] == scores[truth] && spokeLater(p, c, truth)) {
			rank++
		}
	}
	return rank
}

// spokeLater breaks ties: the seat that spoke later comes first, one that never
// spoke last, and then byte order of the IDs decides.
func spokeLater(p *history.Point, a, b int) bool {
	if p.LastSpoke[a] != p.LastSpoke[b] {
		return p.LastSpoke[a] > p.LastSpoke[b]
	}
	return p.History.Seats[a].Rank < p.History.Seats[b].Rank
}
