package drive

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/folkmoot/moot/policies/habit"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/history"
)

// A baselineEvaluator makes the decisions of a baseline in one transcript.
type baselineEvaluator struct {
	*rule
	stats      *statistics
	experts    habit.Experts
	candidates []habit.Candidate // of the point
	keys       []habit.Keys      // by seat
}

func newBaselineEvaluator(name string, stats *statistics) *baselineEvaluator {
	return &baselineEvaluator{rule: findRule(name), stats: stats}
}

func (v *baselineEvaluator) evaluate(_ context.Context, p *history.Point) (Evaluation, error) {
	if len(p.Candidates) == 0 {
		return decline(p, "nobody can be chosen"), nil
	}
	if v.kind == random {
		e := speak(p, drawCandidate(p))
		e.setPlaces(p, allEqual)
		return e, nil
	}
	v.describe(p)
	rule := v.Rule
	if rule.Then == habit.BestRule {
		if p.Last >= 0 {
			v.experts.Learn(p.Last)
		}
		rule.Then = v.experts.Best()
		v.experts.Predict(func(r habit.Rule) int { return v.first(p, r) })
	}
	first := v.first(p, rule)
	if rule.Then == habit.None && !v.keys[first].Asks() {
		return decline(p, "nobody is named"), nil
	}
	e := speak(p, first)
	if v.kind == ring && p.History.Conversation() {
		e.setPlaces(p, allEqual)
	} else {
		e.setPlaces(p, func(a, b int) int { return v.keys[b].Compare(v.keys[a]) })
	}
	return e, nil
}

func decline(p *history.Point, reason string) Evaluation {
	e := Evaluation{Choice: history.Declined, Likeliest: history.Declined, Confidence: -1, Decision: policy.Decline(reason)}
	e.setPlaces(p, allEqual)
	return e
}

func speak(p *history.Point, c int) Evaluation {
	return Evaluation{Choice: history.Choice(c), Likeliest: history.Choice(c), Confidence: -1, Decision: policy.Speak(p.History.Seats[c].ID, "")}
}

// drawCandidate chooses a candidate by a hash of the transcript's name and the
// number of the point.
func drawCandidate(p *history.Point) int {
	f := fnv.New64a()
	_, _ = f.Write([]byte(p.History.Name)) // never fails
	_, _ = f.Write(binary.BigEndian.AppendUint64(nil, uint64(p.N)))
	return p.Candidates[f.Sum64()%uint64(len(p.Candidates))]
}

func allEqual(_, _ int) int { return 0 }

// describe notes what the rules know of the candidates.
func (v *baselineEvaluator) describe(p *history.Point) {
	v.candidates = v.candidates[:0]
	s, n := v.stats, len(p.History.Seats)
	for _, c := range p.Candidates {
		x := habit.Candidate{
			Addressed: s.addressed == c, Turns: s.turns[c], Spoke: p.LastSpoke[c], Steps: (c - p.Last - 1 + n) % n,
			Followed: policy.Followed{Last: s.bigrams[[2]int{s.last, c}], LastTwo: s.trigrams[[3]int{s.before, s.last, c}]},
		}
		if v.kind == oracle {
			x.Addressed = slices.Contains(p.History.Labels, c)
		}
		if v.Mention {
			x.Named = s.named(p, c)
		}
		v.candidates = append(v.candidates, x)
	}
}

// first rates the candidates and returns the seat of the best, the earliest of
// equal ones.
func (v *baselineEvaluator) first(p *history.Point, r habit.Rule) int {
	for len(v.keys) < len(p.History.Seats) {
		v.keys = append(v.keys, habit.Keys{})
	}
	best := p.Candidates[0]
	for i, c := range p.Candidates {
		v.keys[c] = r.Keys(&v.candidates[i])
		if v.keys[c].Compare(v.keys[best]) > 0 {
			best = c
		}
	}
	return best
}
