package adaptive

import (
	"math"

	"github.com/folkmoot/moot/policies/policy"
)

// HeadFeatures is how many features a [Head] weighs.
const HeadFeatures = 5

// A Head is a logistic model of whether an agent speaks, learned from recorded
// decisions: a constant, and the weights of the features. In the settings it replaces
// the odds of whether.go.
type Head [1 + HeadFeatures]float64

// Odds returns how strongly the features are for the agent to speak, from 0 to 1:
//
//	odds = 1 / (1 + exp(-w.x))
func (h *Head) Odds(x [HeadFeatures]float64) float64 {
	z := h[0]
	for i := range x {
		z += h[1+i] * x[i]
	}
	return fine(1 / (1 + math.Exp(-z)))
}

// headFeatures returns the features of the agent at a seat. s is its share of the
// turns, as in whether.go.
func (r *room) headFeatures(seat int, events []policy.Event) [HeadFeatures]float64 {
	a, n, latest := &r.agents[seat], float64(len(r.agents)), 0
	if rank := r.rank(a.ID); rank >= 0 {
		latest = r.people[rank].turn
	}
	s := float64(a.Turns+1) / (float64(r.turns) + n)
	news, named := false, false
	for i := range events {
		news = news || events[i].Said() && events[i].From != a.ID
	}
	for i := range r.named {
		named = named || r.named[i].id == a.ID && r.named[i].turn > latest
	}
	return [HeadFeatures]float64{
		math.Log(1 + float64(r.turns-latest)), // turns since its own
		min(max(n*s-1, -1), 1),                // its share against an equal one
		is(n*s < 1),
		is(news),  // another one has spoken since the previous decision
		is(named), // since its own turn
	}
}

// again decides where only the last speaker may be eligible: it is silent, unless an
// agent goes on by its learned odds.
func (p *Policy) again(in *policy.Input) policy.Decision {
	d := policy.Decline("only the last speaker is eligible")
	if !p.room.minority() {
		return d
	}
	p.speak, d.Speak = 0, &p.speak
	for i := range in.Agents {
		a := &in.Agents[i]
		if p.head == nil || !a.Eligible || a.Kind == policy.Human {
			continue
		}
		if p.speak = p.head.Odds(p.room.headFeatures(i, in.Events)); p.silence > 0 && p.speak > p.silence {
			d.Action, d.Agent, d.Reason = policy.ActionSpeak, a.ID, a.ID+" goes on, as in the recorded decisions of the training"
		}
	}
	return d
}

// Silence adds the messages of in, like Decide, and returns the features of whether
// agent id speaks, and its odds without a head. ok is false where the policy does not
// ask: people do not outnumber the agents, or it is one of them.
func (p *Policy) Silence(in *policy.Input, id string) (x [HeadFeatures]float64, odds float64, ok bool, state policy.JSON) {
	news := p.observe(in) || in.Init
	r := p.room
	r.predict()
	for seat := range r.agents {
		if r.agents[seat].ID == id {
			x, ok = r.headFeatures(seat, in.Events), r.minority() && r.agents[seat].Kind != policy.Human
		}
	}
	for i := range r.rows {
		if news && r.agents[r.rows[i].seat].ID == id {
			odds = r.odds(i)
		}
	}
	return x, odds, ok, r.save()
}

// maxWeight bounds the weights of a head, so that no sum overflows.
const maxWeight = 1e6

// readHead decodes a head from the settings.
func readHead(in *policy.Reader) *Head {
	h, n := &Head{}, 0
	for in.Array(); in.More(); n++ {
		if f := in.Float(); n < len(h) && math.Abs(f) <= maxWeight {
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
