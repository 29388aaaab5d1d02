package adaptive

import (
	"math"
	"slices"

	"github.com/folkmoot/moot/policies/policy"
)

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
	people := 0
	for i := range r.agents {
		if r.agents[i].Kind == policy.Human {
			people++
		}
	}
	return people < len(r.agents) && 2*people > len(r.agents)
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

// whether decides where people outnumber the agents. The likeliest agent speaks if its odds
// are above the threshold, also after its own turn; else the likeliest person does.
func (p *Policy) whether(news bool) policy.Decision {
	r := p.room
	agent := r.likeliest(mayAct)
	seat := slices.IndexFunc(r.agents, func(a policy.Agent) bool { return mayAct(&a) })
	if agent >= 0 {
		seat = r.rows[agent].seat // or else seat is that of the last speaker, which has no row
	}
	if p.speak = 0; seat >= 0 {
		p.speak = p.head.Odds(r.headFeatures(seat, news))
	}
	d := policy.Decline("people are to speak: no agent is likely enough for its share of the talk")
	d.Scores = p.scores
	switch person := r.likeliest(func(a *policy.Agent) bool { return a.Eligible && a.Kind == policy.Human }); {
	case p.silence == 0:
		d = p.answer(r.likeliest(eligible))
	case p.speak > p.silence && agent >= 0:
		d = p.answer(agent)
	case p.speak > p.silence:
		d.Action, d.Agent = policy.ActionSpeak, r.agents[seat].ID
		d.Reason = d.Agent + " goes on, as in the recorded decisions of the training"
	case person >= 0:
		d = p.answer(person)
	}
	d.Speak = &p.speak
	return d
}

func eligible(a *policy.Agent) bool { return a.Eligible }

// mayAct reports whether a is an agent that may speak.
func mayAct(a *policy.Agent) bool { return a.Eligible && a.Kind != policy.Human }

// HeadFeatures is how many features a [Head] weighs: the odds above, and whether something
// was said since the previous decision.
const HeadFeatures = 2

// A Head is a logistic model of whether an agent speaks, learned from recorded
// decisions: a constant, and the weights of the features.
type Head [1 + HeadFeatures]float64

// Odds returns how strongly the features are for the agent to speak, from 0 to 1. Without
// a head, nil, they are the first feature, else
//
//	odds = 1 / (1 + exp(-w.x))
func (h *Head) Odds(x [HeadFeatures]float64) float64 {
	if h == nil {
		return x[0]
	}
	return fine(1 / (1 + math.Exp(-h[0]-h[1]*x[0]-h[2]*x[1])))
}

// headFeatures returns the features of the agent at a seat.
func (r *room) headFeatures(seat int, news bool) (x [HeadFeatures]float64) {
	if !news {
		return x
	}
	if i := slices.IndexFunc(r.rows, func(w row) bool { return w.seat == seat }); i >= 0 { // it is -1 for the last speaker
		x[0] = r.odds(i)
	}
	x[1] = 1
	return x
}

// readHead decodes a head from the settings. The bound keeps sums from overflowing.
func readHead(in *policy.Reader) *Head {
	h, n := &Head{}, 0
	for in.Array(); in.More(); n++ {
		if f := in.Float(); n < len(h) && math.Abs(f) <= 1e6 {
			h[n] = f
		} else {
			in.Fail(damagedTeam)
		}
	}
	if n != len(h) {
		in.Fail(damagedTeam)
	}
	return h
}
