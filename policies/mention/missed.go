package mention

import "github.com/folkmoot/moot/policies/policy"

// maxMissed bounds the agents in the state.
const maxMissed = 8

// A missed is an agent session that was named while it was away.
type missed struct{ agent, reason string }

// missedAfter returns the agents that were named while they were away, after the
// events of in. An agent that has spoken since has missed nothing.
func missedAfter(before []missed, in *policy.Input) []missed {
	all := before
	for i := range in.Events {
		e := &in.Events[i]
		if !e.Said() {
			continue
		}
		all = without(all, e.From)
		for _, ids := range [2][]string{e.Mentions, e.Addressed} {
			for _, id := range ids {
				if a := in.Agent(id); a != nil && a.Ineligible == policy.Away && a.ID != e.From {
					all = append(without(all, a.ID), missed{a.ID, e.From + " named " + a.ID + " while it was away"})
				}
			}
		}
	}
	if len(all) > maxMissed {
		all = all[len(all)-maxMissed:]
	}
	return all
}

// returned returns the first agent that was named while it was away and can speak now.
func (s state) returned(in *policy.Input) (*policy.Agent, string) {
	for i := range s.missed {
		if a := in.Agent(s.missed[i].agent); a != nil && a.Eligible {
			return a, s.missed[i].reason
		}
	}
	return nil, ""
}

// without returns the list without an agent, nil if nothing is left.
func without(all []missed, agent string) (kept []missed) {
	for i := range all {
		if all[i].agent != agent {
			kept = append(kept, all[i])
		}
	}
	return kept
}

func same(a, b []missed) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
