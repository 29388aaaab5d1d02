package training

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/folkmoot/moot/policies/policy"
)

// Renamed returns the talks with random ids of the participants. The names in the
// texts stay, as display names.
func Renamed(talks []*Talk, seed uint64) []*Talk {
	rng := rand.New(rand.NewPCG(seed, 11))
	out := make([]*Talk, len(talks))
	for i, t := range talks {
		out[i] = t.renamed(rng)
	}
	return out
}

func (t *Talk) renamed(rng *rand.Rand) *Talk {
	names := map[string]string{}
	n := &Talk{ID: t.ID, agents: slices.Clone(t.agents), names: t.names}
	for i, place := range rng.Perm(len(t.agents)) {
		names[t.agents[i].ID] = fmt.Sprintf("q%04d", place)
		n.agents[i].ID, n.agents[i].Name = names[t.agents[i].ID], t.agents[i].ID
	}
	slices.SortFunc(n.agents, func(a, b policy.Agent) int { return cmp.Compare(a.ID, b.ID) })
	for _, e := range t.turns {
		e.From = names[e.From]
		e.Mentions, e.Addressed = translated(e.Mentions, names), translated(e.Addressed, names)
		n.turns = append(n.turns, e)
	}
	return n
}

func translated(ids []string, names map[string]string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = names[id]
	}
	return out
}
