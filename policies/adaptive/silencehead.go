package adaptive

import (
	"math"

	"github.com/folkmoot/moot/policies/policy"
)

// HeadFeatures is how many features a [Head] weighs.
const HeadFeatures = 3

// A Head is a logistic model of whether an agent speaks, learned from recorded
// decisions: a constant, and the weights of the features. In the settings it corrects
// the odds of whether.go, which are the first feature.
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

// speakOdds returns how strongly the policy is for the agent at a seat to speak.
func (p *Policy) speakOdds(seat int, news bool) float64 {
	x := p.room.headFeatures(seat, news)
	if p.head != nil {
		return p.head.Odds(x)
	}
	return x[0]
}

// headFeatures returns the features of the agent at a seat: its odds, whether something
// was said since the previous decision, and whether it was named since its own turn.
func (r *room) headFeatures(seat int, news bool) [HeadFeatures]float64 {
	odds, named, latest := 0.0, false, 0
	for i := range r.rows {
		if news && r.rows[i].seat == seat {
			odds = r.odds(i)
		}
	}
	if rank := r.rank(r.agents[seat].ID); rank >= 0 {
		latest = r.people[rank].turn
	}
	for i := range r.named {
		named = named || r.named[i].id == r.agents[seat].ID && r.named[i].turn > latest
	}
	return [HeadFeatures]float64{odds, is(news), is(named)}
}

// Silence adds the messages of in, like Decide, and returns the features of whether
// agent id speaks. ok is false where the policy does not ask: people do not outnumber the
// agents, or it is one of them.
func (p *Policy) Silence(in *policy.Input, id string) (x [HeadFeatures]float64, ok bool, state policy.JSON) {
	news := p.observe(in) || in.Init
	r := p.room
	r.predict()
	for seat := range r.agents {
		if r.agents[seat].ID == id {
			x, ok = r.headFeatures(seat, news), r.minority() && r.agents[seat].Kind != policy.Human
		}
	}
	return x, ok, r.save()
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
