package adaptive

import "github.com/folkmoot/moot/policies/policy"

// Whether an agent should speak at all is decided where people outnumber the agents,
// and nowhere else: elsewhere the agents are to go on. The policy states the odds, and
// declines unless they are above the threshold. With n participants, the probability q
// of the agent by recency alone, because names mislead in games, and the share s of the
// talk that it would have, (its turns + 1) / (turns + n), the odds are
//
//	q n / (1 + q n)                     if q n <= 1
//	(1 + 1 / (1 + s (n-1))) / 2         if q n > 1
//
// They are even for an agent that is as likely as all participants are in the mean.
// Above that its share decides: with an equal part among the others they are 3/4, and
// more if it has spoken less. After a silence of more than a turn of each participant q
// counts as 0. An agent that the mixture takes for likelier than all others together,
// p > 1/2, has at least the odds (1 + p) / 2. This is so after most questions to it.
// The odds are 0 where nothing was said since the previous decision, because the answer
// would be the same.

// equalShare is the threshold by default. These are the odds of a likely agent that has
// its equal part of the talk.
const equalShare = 0.75

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
	w, n, odds := &r.rows[i], float64(len(r.agents)), 0.0
	silent := r.turns
	if w.person != newcomer {
		silent -= r.people[w.person].turn
	}
	if q := w.habit[recency] * n; silent <= len(r.agents) {
		odds = q / (1 + q)
	}
	if odds > .5 {
		s := float64(r.agents[w.seat].Turns+1) / (float64(r.turns) + n)
		odds = (1 + 1/(1+s*(n-1))) / 2
	}
	if w.p > .5 {
		odds = max(odds, (1+w.p)/2)
	}
	return odds
}

// whether decides which row may speak where people outnumber the agents: the most
// likely agent if its odds are above the threshold, else the most likely person. It
// returns -1 for silence.
func (p *Policy) whether(news bool) int {
	r := p.room
	agent := r.likeliest(func(a *policy.Agent) bool { return a.Eligible && a.Kind != policy.Human })
	p.speak = 0
	if agent >= 0 {
		p.speak = p.speakOdds(r.rows[agent].seat, news)
	}
	if p.speak > p.silence {
		return agent
	}
	return r.likeliest(func(a *policy.Agent) bool { return a.Eligible && a.Kind == policy.Human })
}

// again decides where only the last speaker may be eligible: it is silent, unless an
// agent goes on by a learned head.
func (p *Policy) again(news bool) policy.Decision {
	d := policy.Decline("only the last speaker is eligible")
	if !p.room.minority() {
		return d
	}
	p.speak, d.Speak = 0, &p.speak
	for seat := range p.room.agents {
		a := &p.room.agents[seat]
		if !a.Eligible || a.Kind == policy.Human {
			continue
		}
		if p.speak = p.speakOdds(seat, news); p.silence > 0 && p.speak > p.silence {
			d.Action, d.Agent, d.Reason = policy.ActionSpeak, a.ID, a.ID+" goes on, as in the recorded decisions of the training"
		}
	}
	return d
}
