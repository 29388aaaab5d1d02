package drive

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/history"
)

// A baselineEvaluator makes the decisions of a baseline in one transcript.
type baselineEvaluator struct {
	*rule
	stats   *statistics
	experts *experts
	rated   [][maxKeys]float64 // by candidate
}

const maxKeys = 4

func newBaselineEvaluator(name string, stats *statistics) *baselineEvaluator {
	v := &baselineEvaluator{rule: findRule(name), stats: stats}
	if v.kind == byExperts {
		v.experts = &experts{right: make([]float64, len(expertNames))}
		for _, name := range expertNames {
			v.experts.rules = append(v.experts.rules, newBaselineEvaluator(name, stats))
		}
	}
	return v
}

func (v *baselineEvaluator) evaluate(_ context.Context, p *history.Point) (Evaluation, error) {
	if len(p.Candidates) == 0 {
		return decline("nobody can be chosen"), nil
	}
	keys := v.keys
	switch v.kind {
	case random:
		return drawCandidate(p), nil
	case byExperts:
		keys = v.experts.keys(p)
	}
	at := v.first(p, keys)
	if v.strict && v.rated[at][0] == 0 {
		return decline("nobody is named"), nil
	}
	e := speak(p, p.Candidates[at])
	if p.Truth.Speaks() {
		e.Rank = v.rank(p, len(keys), int(p.Truth))
	}
	return e, nil
}

func decline(reason string) Evaluation {
	return Evaluation{Choice: history.Declined, Likeliest: history.Declined, Confidence: -1, Decision: policy.Decline(reason)}
}

func speak(p *history.Point, c int) Evaluation {
	return Evaluation{Choice: history.Choice(c), Likeliest: history.Choice(c), Confidence: -1, Decision: policy.Speak(p.History.Seats[c].ID, "")}
}

// drawCandidate chooses a candidate by a hash of the transcript's name and the
// number of the point. Its figures are the expectation over all candidates.
func drawCandidate(p *history.Point) Evaluation {
	f := fnv.New64a()
	_, _ = f.Write([]byte(p.History.Name)) // never fails
	_, _ = f.Write(binary.BigEndian.AppendUint64(nil, uint64(p.N)))
	n := len(p.Candidates)
	e := speak(p, p.Candidates[f.Sum64()%uint64(n)])
	e.HitProbability = 1 / float64(n)
	for i := 1; i <= n; i++ {
		e.ReciprocalRank += e.HitProbability / float64(i)
	}
	return e
}

// first rates the candidates and returns the index of the best.
func (v *baselineEvaluator) first(p *history.Point, keys []key) int {
	v.rated = v.rated[:0]
	best := 0
	for i, c := range p.Candidates {
		var x [maxKeys]float64
		for j, k := range keys {
			x[j] = k(v.stats, p, c)
		}
		v.rated = append(v.rated, x)
		if i > 0 && v.before(p, i, best, len(keys)) {
			best = i
		}
	}
	return best
}

// before reports whether candidate i ranks before candidate j.
func (v *baselineEvaluator) before(p *history.Point, i, j, keys int) bool {
	for k := range keys {
		if x, y := v.rated[i][k], v.rated[j][k]; x != y {
			return x > y
		}
	}
	return spokeLater(p, p.Candidates[i], p.Candidates[j])
}

// rank returns the rank of a seat, from 1; 0 when it is no candidate.
func (v *baselineEvaluator) rank(p *history.Point, keys, seat int) int {
	at := slices.Index(p.Candidates, seat)
	if at < 0 {
		return 0
	}
	rank := 1
	for i := range p.Candidates {
		if i != at && v.before(p, i, at, keys) {
			rank++
		}
	}
	return rank
}

// experts follows the best of several rules, with exponentially decaying
// counts of how often each was right (follow the leader, see Cesa-Bianchi and
// Lugosi, Prediction, Learning, and Games, 2006).
type experts struct {
	rules []*baselineEvaluator
	picks []int // at the previous point; nil before the first
	right []float64
}

// expertDecay is the factor by which a count decays at each point.
const expertDecay = 0.95

// keys counts which experts foresaw the last speaker, and returns the keys of
// the leader behind the key for a seat that is addressed by name.
func (x *experts) keys(p *history.Point) []key {
	for i, pick := range x.picks {
		x.right[i] = expertDecay*x.right[i] + indicator(pick == p.Last)
	}
	best := 0
	x.picks = x.picks[:0]
	for i, v := range x.rules {
		if x.right[i] > x.right[best] {
			best = i
		}
		x.picks = append(x.picks, p.Candidates[v.first(p, v.rule.keys)])
	}
	return append([]key{addressed}, x.rules[best].rule.keys...)
}
