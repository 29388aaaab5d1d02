package score

import "github.com/folkmoot/moot/replay/history"

// drawn holds the weights of one transcript for one policy: how much more likely its
// choices are with the policy than they were in the room.
//
// A decision of the recorded policy stands where the room could draw no other agent, and
// where the policy under test gives no turn. There the weight is 1. Elsewhere it is
// 1/propensity if the policy chooses the agent that got the turn, and otherwise 0
// (Horvitz and Thompson 1952). Its square is expected to be 1/propensity of the policy's
// choice, whatever was drawn. The expectation is kept too, because weights that are large
// and rare seem small as long as none was drawn.
type drawn struct {
	explores bool
	open     int      // decisions at which any eligible agent could be drawn
	stands   int      // of them, at which the policy gives no turn
	whole    weighted // product of the weights: that of the whole transcript
	single   weighted // sum of the weights
}

// maxWeight bounds weights, so that their squares are finite.
const maxWeight = 1e150

func (d *drawn) add(p *history.Point, c history.Choice) {
	x, _ := p.Exploration()
	if x == nil {
		return
	}
	d.begin()
	if x.Kept != "" {
		return
	}
	d.open++
	propensity := 0.0
	if c.Speaks() {
		propensity = p.Propensity(x, int(c))
	}
	if propensity == 0 {
		d.stands++
		return
	}
	d.weigh(c == p.Truth, propensity)
}

// begin notes that the transcript explores.
func (d *drawn) begin() {
	if !d.explores {
		d.explores, d.whole = true, equally(1, 0)
	}
}

// weigh adds a decision. same says that the agent was drawn that the policy chooses, which
// had the propensity.
func (d *drawn) weigh(same bool, propensity float64) {
	w := indicator(same) / propensity
	d.whole.mean = min(d.whole.mean+d.whole.square*(1/propensity-1), maxWeight)
	d.whole.weight = min(d.whole.weight*w, maxWeight)
	d.whole.square = min(d.whole.square*w*w, maxWeight)
	d.single.add(w, 1/propensity)
}
