package training

import (
	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/policy"
)

// mostDecisions is the number of decisions that a team's weights are trained on.
const mostDecisions = 8000

// Learn trains the law of a team on its past talks, which must not be near
// duplicates (see [Distinct]).
func Learn(talks []*Talk) *adaptive.Team {
	team := adaptive.NewTeam()
	fit(team, collect(team, talks))
	return team
}

// collect takes evenly spaced decisions.
func collect(team *adaptive.Team, talks []*Talk) (all []adaptive.Study) {
	total := 0
	for _, t := range talks {
		total += t.Decisions()
	}
	step, n := (total+mostDecisions-1)/mostDecisions, 0
	for _, t := range talks {
		p, state := adaptive.NewWith(team), policy.JSON(nil)
		for in, truth := range t.asked() {
			in.State = state
			var s adaptive.Study
			if s, state = p.Study(in, truth); n%step == 0 && s.Truth >= 0 {
				all = append(all, s)
			}
			n++
		}
	}
	return all
}
