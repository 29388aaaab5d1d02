package training

import (
	"cmp"
	"math"
	"slices"

	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/policy"
)

// A Score measures the predictions of a policy on talks, with the measures of
// replay.
type Score struct {
	Decisions int
	State     int         // bytes of the largest
	PerTalk   [][]float64 // decisions and hits of each talk, in the order in which they were measured
	hits      float64
	inverse   float64 // sum of 1/rank
	answers   []answer
}

type answer struct {
	confidence float64
	right      float64 // share of the candidates that are tied
}

// Measure asks p at every decision of the talks.
func Measure(p *adaptive.Policy, talks []*Talk) *Score {
	s := &Score{}
	for _, t := range talks {
		s.talk(p, t)
	}
	return s
}

func (s *Score) talk(p *adaptive.Policy, t *Talk) {
	observed := map[string]int{} // the latest turn of each
	var state policy.JSON
	hits := 0.0
	for in, truth := range t.asked() {
		observed[in.Events[0].From] = in.Turn
		in.State = state
		d := p.Decide(in)
		state = d.State
		s.State = max(s.State, len(state))
		right := agreement(&d, truth)
		hits += right
		if d.Action == policy.ActionSpeak {
			s.inverse += 1 / float64(rank(&d, in.Agents, observed, truth))
		}
		if d.Confidence != nil {
			s.answers = append(s.answers, answer{*d.Confidence, right})
		}
	}
	s.Decisions += t.Decisions()
	s.hits += hits
	s.PerTalk = append(s.PerTalk, []float64{float64(t.Decisions()), hits})
}

// agreement returns 1 if the decision chose truth, and 1/t if truth is one of t
// candidates with the same score as the choice: a tie is decided by expectation.
func agreement(d *policy.Decision, truth string) float64 {
	if d.Action != policy.ActionSpeak {
		return 0
	}
	tied, among := 0.0, false
	for _, s := range d.Scores {
		if s.Score == *d.Confidence {
			tied++
			among = among || s.Agent == truth
		}
	}
	if !among {
		return 0
	}
	return 1 / tied
}

// rank returns the rank of truth among the candidates: first the choice, then by
// score, then by recency, then in the order of the agents.
func rank(d *policy.Decision, agents []policy.Agent, observed map[string]int, truth string) int {
	if d.Agent == truth {
		return 1
	}
	score := func(id string) float64 {
		for _, s := range d.Scores {
			if s.Agent == id {
				return s.Score
			}
		}
		return -1
	}
	own, place, passed := score(truth), 1, false
	for i := range agents {
		a := &agents[i]
		if a.ID == truth {
			passed = true
			continue
		}
		if !a.Eligible {
			continue
		}
		c := cmp.Or(cmp.Compare(score(a.ID), own), cmp.Compare(observed[a.ID], observed[truth]))
		if a.ID == d.Agent || c > 0 || c == 0 && !passed {
			place++
		}
	}
	return place
}

// Add adds the decisions of another score.
func (s *Score) Add(o *Score) {
	s.Decisions += o.Decisions
	s.State = max(s.State, o.State)
	s.hits += o.hits
	s.inverse += o.inverse
	s.PerTalk = append(s.PerTalk, o.PerTalk...)
	s.answers = append(s.answers, o.answers...)
}

// Accuracy returns the share of decisions that chose the actual next speaker.
func (s *Score) Accuracy() float64 { return s.hits / float64(s.Decisions) }

// MRR returns the mean reciprocal rank of the actual next speaker.
func (s *Score) MRR() float64 { return s.inverse / float64(s.Decisions) }

// Surest returns the accuracy among the given part of the decisions, from 0 to 1,
// with the highest confidence.
func (s *Score) Surest(part float64) float64 {
	all := slices.Clone(s.answers)
	slices.SortStableFunc(all, func(a, b answer) int { return cmp.Compare(b.confidence, a.confidence) })
	n := int(part * float64(len(all)))
	right := 0.0
	for _, a := range all[:n] {
		right += a.right
	}
	return right / float64(max(n, 1))
}

// Miscalibration returns the expected calibration error over ten bins.
func (s *Score) Miscalibration() float64 {
	var n, right, sure [10]float64
	for _, a := range s.answers {
		b := min(int(a.confidence*10), 9)
		n[b]++
		sure[b] += a.confidence
		right[b] += a.right
	}
	sum := 0.0
	for b := range n {
		sum += math.Abs(right[b] - sure[b])
	}
	return sum / float64(max(len(s.answers), 1))
}
