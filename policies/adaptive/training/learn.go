package training

import (
	"maps"
	"math"

	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/policy"
)

// mostDecisions is the number of decisions that a team's weights are trained on.
const mostDecisions = 8000

// Learn trains the law of a team on its past talks, which must not be near
// duplicates (see [Distinct]). progress, if not nil, gets the finished part of the
// work, from 0 to 1.
func Learn(talks []*Talk, progress func(part float64)) *adaptive.Team {
	if progress == nil {
		progress = func(float64) {}
	}
	team := &adaptive.Team{}
	own := make([]counts, len(talks))
	for i, t := range talks {
		own[i] = counts{}
		t.study(team, func(s adaptive.Study) {
			for _, key := range s.Keys {
				own[i][key] = min(own[i][key], math.MaxUint16-1) + 1
			}
		})
	}
	progress(.2)
	team.SetCounts(sum(own))
	examples := collect(team, talks, own)
	progress(.5)
	team.Own = nil
	fit(team, examples)
	progress(1)
	return team
}

// study visits the decisions of a talk as the team's law sees them.
func (t *Talk) study(team *adaptive.Team, visit func(adaptive.Study)) {
	p := adaptive.NewWith(team)
	var state policy.JSON
	for in, truth := range t.asked() {
		in.State = state
		var s adaptive.Study
		s, state = p.Study(in, truth)
		visit(s)
	}
}

// counts are the counts of the keys of a talk.
type counts map[uint32]uint16

// sum adds the counts of the talks. If there are too many it drops the smallest.
func sum(own []counts) counts {
	all := counts{}
	for i := range own {
		for key, n := range own[i] { // sums do not depend on the order
			all[key] = uint16(min(int(all[key])+int(n), math.MaxUint16))
		}
	}
	for least := uint16(2); len(all) > adaptive.MaxCounts; least++ {
		maps.DeleteFunc(all, func(_ uint32, n uint16) bool { return n < least })
	}
	return all
}

// collect takes evenly spaced decisions, each talk without its own counts.
func collect(team *adaptive.Team, talks []*Talk, own []counts) (out []example) {
	total := 0
	for _, t := range talks {
		total += t.Decisions()
	}
	step := (total + mostDecisions - 1) / mostDecisions
	n := 0
	for i, t := range talks {
		team.Own = func(key uint32) float64 { return float64(own[i][key]) }
		t.study(team, func(s adaptive.Study) {
			if n%step == 0 && s.Truth >= 0 {
				out = append(out, example(s))
			}
			n++
		})
	}
	return out
}
