package adaptive

import "github.com/folkmoot/moot/policies/policy"

// Whether an agent should speak at all is decided where people outnumber the agents,
// and nowhere else: elsewhere the agents are to go on. The policy states the odds, and
// heeds them if the settings have a threshold. They are even for an agent that is as
// likely as its share of the talk makes it:
//
//	s = (its turns + 1) / (turns + participants)
//	odds = q/s / (1 + q/s)
//
// where q is its probability by recency alone, because names mislead in games, or that
// of the mixture if the latest turn addresses it. The odds are 0 where nothing was said
// since the previous decision, because the answer would be the same, and for an agent
// that has left: it has been silent for longer than a turn of each participant, or than
// its share explains in one of five cases, (1-s)^(turns since its own) < 0.2.

// leftChance is the probability of a silence below which an agent counts as gone.
const leftChance = 0.2

// minority reports whether people outnumber the agents of the room, of which there is
// one at least.
func (r *room) minority() bool {
	people, agents := 0, 0
	for i := range r.agents {
		if r.agents[i].Kind == policy.Human {
			people++
		} else {
			agents++
		}
	}
	return agents > 0 && people > agents
}

// odds returns how strongly row i is for its agent to speak, from 0 to 1.
func (r *room) odds(i int) float64 {
	w := &r.rows[i]
	share := float64(r.agents[w.seat].Turns+1) / float64(r.turns+len(r.agents))
	if share >= 1 {
		return 0
	}
	since := r.turns
	if w.person != newcomer {
		since -= r.people[w.person].turn
	}
	if since > len(r.agents) {
		return 0
	}
	present := 1.0
	for range since {
		if present *= 1 - share; present < leftChance {
			return 0
		}
	}
	ratio := w.habit[recency] / share
	if r.last.addressed == r.agents[w.seat].ID {
		ratio = max(ratio, w.p/share)
	}
	return ratio / (1 + ratio)
}

// whether decides which row may speak where people outnumber the agents: the most
// likely agent if its odds are above the threshold, else the most likely person. It
// returns -1 for silence.
func (p *Policy) whether(in *policy.Input, news bool) int {
	r := p.room
	agent := r.likeliest(func(a *policy.Agent) bool { return a.Eligible && a.Kind != policy.Human })
	p.speak = 0
	switch {
	case agent >= 0 && p.head != nil:
		p.speak = p.head.Odds(r.headFeatures(r.rows[agent].seat, in.Events))
	case agent >= 0 && news:
		p.speak = r.odds(agent)
	}
	if p.speak > p.silence {
		return agent
	}
	return r.likeliest(func(a *policy.Agent) bool { return a.Eligible && a.Kind == policy.Human })
}
