// Package alternate is the policy of one-to-one rooms: two agents speak in turn.
//
// People may speak at any time and do not change the order. An agent whose turn
// failed is asked again, because the other agent has nothing new to answer. The
// policy waits for an agent that cannot speak now. It fails in a room that does
// not have two agents.
package alternate

import (
	"strconv"

	"github.com/folkmoot/moot/policies/policy"
)

// Policy is the alternating policy.
type Policy struct {
	first string
}

// New returns the policy with its default settings.
func New() *Policy { return &Policy{} }

// Configure reads {"first":id}, the agent that begins. By default the first local
// agent begins, or the first agent if none is local.
func (p *Policy) Configure(settings policy.JSON) error {
	p.first = ""
	r := policy.NewReader(settings)
	for r.Object(); r.More(); {
		switch k := r.Key(); k {
		case "first":
			p.first = r.String()
		default:
			r.Unknown(k)
		}
	}
	r.End()
	return r.Err()
}

// Decide grants the turn to the agent that follows.
func (p *Policy) Decide(in *policy.Input) policy.Decision {
	pair, n := seats(in)
	if n != 2 {
		return policy.Fail("alternate needs a room of two agents; this one has " + strconv.Itoa(n))
	}
	next, why, state := p.next(in, pair)
	if next == nil {
		return policy.Fail("alternate begins with " + p.first + ", who is not one of the two agents")
	}
	d := policy.Speak(next.ID, why)
	if !next.Eligible {
		d = policy.Decline("waiting for " + next.ID + ", whose turn it is (" + next.Ineligible + ")")
	}
	d.State = state
	return d
}

// seats returns the first two agents and the number of agents.
func seats(in *policy.Input) (pair [2]*policy.Agent, n int) {
	for i := range in.Agents {
		if a := &in.Agents[i]; a.Kind != policy.Human {
			if n < 2 {
				pair[n] = a
			}
			n++
		}
	}
	return pair, n
}

// next returns the agent that follows and the new state. The state is the id of
// an agent that is asked again after a failure; it survives declined rounds.
func (p *Policy) next(in *policy.Input, pair [2]*policy.Agent) (a *policy.Agent, why string, state policy.JSON) {
	for i := len(in.Events) - 1; i >= 0; i-- {
		e := &in.Events[i]
		seat := place(pair, e.From)
		switch {
		case seat < 0:
		case e.Kind == policy.KindMessage:
			return pair[1-seat], pair[1-seat].ID + " answers " + e.From, cleared(in.State)
		case e.Kind == policy.KindError:
			return pair[seat], "the turn of " + e.From + " failed; it is asked again", quoted(e.From)
		}
	}
	if in.State != nil {
		r := policy.NewReader(in.State)
		if seat := place(pair, r.String()); seat >= 0 && r.Err() == nil {
			return pair[seat], "the turn of " + pair[seat].ID + " failed; it is asked again", nil
		}
	}
	switch a, b := pair[0], pair[1]; {
	case a.LastTurn > b.LastTurn:
		return b, b.ID + " follows " + a.ID, nil
	case b.LastTurn > a.LastTurn:
		return a, a.ID + " follows " + b.ID, nil
	}
	a = p.beginner(pair)
	if a == nil {
		return nil, "", nil
	}
	return a, a.ID + " begins", nil
}

func (p *Policy) beginner(pair [2]*policy.Agent) *policy.Agent {
	if p.first != "" {
		if i := place(pair, p.first); i >= 0 {
			return pair[i]
		}
		return nil
	}
	if pair[0].Kind != policy.Local && pair[1].Kind == policy.Local {
		return pair[1]
	}
	return pair[0]
}

func place(pair [2]*policy.Agent, id string) int {
	for i, a := range pair {
		if a.ID == id {
			return i
		}
	}
	return -1
}

func cleared(old policy.JSON) policy.JSON {
	if old == nil {
		return nil
	}
	return policy.JSON("null")
}

func quoted(id string) policy.JSON {
	var w policy.Writer
	w.String(id)
	return w.Bytes()
}
