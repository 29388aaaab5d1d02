// Package roundrobin grants turns in the order of the participants.
//
// The next speaker is the first eligible agent after the last speaker; after the
// last participant follows the first one. Agents that cannot speak now are
// skipped. If only the last speaker is eligible, the policy declines.
//
// The policy is fair and does not predict: in conversations of people it agrees
// with the actual turns about as often as chance.
package roundrobin

import "github.com/folkmoot/moot/policies/policy"

// Policy is the round-robin policy. The zero Policy has no settings.
type Policy struct {
	skip []string
}

// New returns the policy with its default settings.
func New() *Policy { return &Policy{} }

// Configure reads {"skip":[id,...]}, the agents that never get a turn. They keep
// their place in the order.
func (p *Policy) Configure(settings policy.JSON) error {
	p.skip = nil
	r := policy.NewReader(settings)
	for r.Object(); r.More(); {
		switch k := r.Key(); k {
		case "skip":
			p.skip = r.Strings()
		default:
			r.Unknown(k)
		}
	}
	r.End()
	return r.Err()
}

// Decide chooses the next agent in the order.
func (p *Policy) Decide(in *policy.Input) policy.Decision {
	last := in.LastSpeaker()
	best := -1
	scores := make([]policy.Score, 0, len(in.Agents))
	for i := range in.Agents {
		a := &in.Agents[i]
		if !a.Eligible || policy.Has(p.skip, a.ID) {
			continue
		}
		scores = append(scores, policy.Score{Agent: a.ID, Score: -float64(distance(in, last, i))})
		if best < 0 || distance(in, last, i) < distance(in, last, best) {
			best = i
		}
	}
	if best < 0 {
		return policy.Decline("nobody is eligible")
	}
	if best == last && spokeLast(in, last) {
		return policy.Decline("only " + in.Agents[last].ID + " could speak, and it has just spoken")
	}
	d := policy.Speak(in.Agents[best].ID, reason(in, last, best))
	d.Scores = scores
	return d
}

// distance returns the number of steps from last to i in the order, from 1. Last
// is -1 if no participant has spoken.
func distance(in *policy.Input, last, i int) int {
	if i > last {
		return i - last
	}
	return i - last + len(in.Agents)
}

// spokeLast reports whether the latest message is of the agent at index last.
func spokeLast(in *policy.Input, last int) bool {
	e := in.LastSaid()
	return last >= 0 && (e == nil || e.From == in.Agents[last].ID)
}

func reason(in *policy.Input, last, next int) string {
	if last < 0 {
		return "the first eligible of the roster begins"
	}
	return "next in the roster after " + in.Agents[last].ID
}
