package drive

import (
	"math"
	"slices"

	"github.com/folkmoot/moot/replay/history"
)

// setPlaces rates e against the recorded choice. order compares two candidates:
// negative when the first ranks before the second, 0 when the policy does not
// tell them apart. Candidates that share a place are scored by expectation over
// all their orders, so that no figure depends on how ties are broken.
func (e *Evaluation) setPlaces(p *history.Point, order func(a, b int) int) {
	e.Tied = e.Tied[:0]
	if e.Likeliest.Speaks() && slices.Contains(p.Candidates, int(e.Likeliest)) {
		for _, c := range p.Candidates {
			if order(c, int(e.Likeliest)) == 0 {
				e.Tied = append(e.Tied, c)
			}
		}
	}
	if len(e.Tied) < 2 {
		e.Tied = nil
	}
	switch {
	case p.Simulated || e.Choice == history.Failed:
	case !e.Choice.Speaks() || !p.Truth.Speaks():
		e.Hit = indicator(e.Choice == p.Truth)
		e.ReciprocalRank = e.Hit
	default:
		e.Hit = e.Share(p.Truth)
		e.setRank(p, order)
	}
}

// setRank sets the rank of the recorded choice, when it is a candidate.
func (e *Evaluation) setRank(p *history.Point, order func(a, b int) int) {
	truth := int(p.Truth)
	if !slices.Contains(p.Candidates, truth) {
		e.Rank = int(e.Hit) // a policy may choose a seat that is no candidate
		e.ReciprocalRank = e.Hit
		return
	}
	before, equal := 0, 1
	for _, c := range p.Candidates {
		if c == truth {
			continue
		}
		switch x := order(c, truth); {
		case x < 0:
			before++
		case x == 0:
			equal++
		}
	}
	e.Rank = before + 1
	e.ReciprocalRank = meanReciprocal(before, equal)
}

// meanReciprocal is the mean of 1/rank over the places after so many.
func meanReciprocal(before, places int) float64 {
	sum := 0.0
	for i := range places {
		sum += 1 / float64(before+i+1)
	}
	return sum / float64(places)
}

// Share is the probability that the seat that e rates highest is c, when ties
// are broken at random.
func (e *Evaluation) Share(c history.Choice) float64 {
	if len(e.Tied) == 0 {
		return indicator(e.Likeliest == c)
	}
	return indicator(slices.Contains(e.Tied, int(c))) / float64(len(e.Tied))
}

// ChosenShare is the probability that e chooses a seat for which is returns
// true, when ties are broken at random.
func (e *Evaluation) ChosenShare(is func(seat int) bool) float64 {
	switch {
	case !e.Choice.Speaks():
		return 0
	case len(e.Tied) == 0:
		return indicator(is(int(e.Choice)))
	}
	n := 0.0
	for _, c := range e.Tied {
		n += indicator(is(c))
	}
	return n / float64(len(e.Tied))
}

// stated orders the candidates of a decision of a policy: its favourite, then
// by score, then by the later last message. A candidate that never spoke comes
// last. With the favourite ranks a candidate that has its score, when neither
// has spoken.
type stated struct {
	favourite int
	scores    []float64 // by seat; -Inf where the policy states none
	lastSpoke []int
}

// newStated reuses the buffer.
func newStated(p *history.Point, e *Evaluation, buffer []float64) *stated {
	s := &stated{favourite: int(e.Likeliest), scores: buffer[:0], lastSpoke: p.LastSpoke}
	for range p.History.Seats {
		s.scores = append(s.scores, math.Inf(-1))
	}
	for _, x := range e.Decision.Scores {
		if seat, ok := p.History.SeatOf(x.Agent); ok {
			s.scores[seat] = x.Score
		}
	}
	return s
}

func (s *stated) order(a, b int) int {
	if x, y := s.place(a), s.place(b); x != y {
		return x - y
	}
	switch {
	case s.scores[a] != s.scores[b]:
		return sign(s.scores[b] - s.scores[a])
	default:
		return s.lastSpoke[b] - s.lastSpoke[a]
	}
}

// place is 0 for the favourite and its equals, and 1 for the others.
func (s *stated) place(c int) int {
	f := s.favourite
	if c == f || f >= 0 && !math.IsInf(s.scores[f], -1) && s.scores[c] == s.scores[f] && s.lastSpoke[c] == s.lastSpoke[f] {
		return 0
	}
	return 1
}

func sign(x float64) int {
	switch {
	case x < 0:
		return -1
	case x > 0:
		return 1
	}
	return 0
}
