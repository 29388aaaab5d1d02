package drive

import (
	"context"
	"encoding/binary"
	"hash/fnv"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/history"
)

// A baselineEvaluator makes the decisions of a baseline in one transcript.
type baselineEvaluator struct {
	*rule
	stats   *statistics
	experts *experts
	rated   [][maxKeys]float64 // by seat
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
		return decline(p, "nobody can be chosen"), nil
	}
	if v.kind == random {
		e := speak(p, drawCandidate(p))
		e.setPlaces(p, allEqual)
		return e, nil
	}
	keys := v.keys
	if v.kind == byExperts {
		keys = v.experts.keys(p)
	}
	first := v.first(p, keys)
	if v.strict && v.rated[first][0] == 0 {
		return decline(p, "nobody is named"), nil
	}
	e := speak(p, first)
	if v.kind == ring && p.History.Conversation() {
		e.setPlaces(p, allEqual)
	} else {
		e.setPlaces(p, v.orderBy(p, len(keys)))
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

// first rates the candidates and returns the seat of the best, the earliest of
// equal ones.
func (v *baselineEvaluator) first(p *history.Point, keys []key) int {
	for len(v.rated) < len(p.History.Seats) {
		v.rated = append(v.rated, [maxKeys]float64{})
	}
	best := p.Candidates[0]
	order := v.orderBy(p, len(keys))
	for _, c := range p.Candidates {
		for j, k := range keys {
			v.rated[c][j] = k(v.stats, p, c)
		}
		if order(c, best) < 0 {
			best = c
		}
	}
	return best
}

// orderBy compares candidates by so many keys and then by their last message.
func (v *baselineEvaluator) orderBy(p *history.Point, keys int) func(a, b int) int {
	return func(a, b int) int {
		for k := range keys {
			if x, y := v.rated[a][k], v.rated[b][k]; x != y {
				return sign(y - x)
			}
		}
		return p.LastSpoke[b] - p.LastSpoke[a]
	}
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
		x.picks = append(x.picks, v.first(p, v.rule.keys))
	}
	return append([]key{addressed}, x.rules[best].rule.keys...)
}
