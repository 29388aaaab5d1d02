// Package roundrobin gives everybody the floor in the order of the roster.
//
// The roster is a ring. The next speaker is the first eligible agent behind
// the one that spoke last; seats that cannot speak now are passed over. So
// airtime is fair whatever is said. When the only agent that could speak is
// the one that just spoke, it declines: a monologue is filler.
//
// It is a fairness policy, not a guess: in natural talk it agrees with what
// people did about as often as chance.
package roundrobin

import "github.com/folkmoot/moot/policies/policy"

// Policy is the round-robin policy. The zero Policy has no settings.
type Policy struct {
	skip []string
}

// New returns the policy with its default settings.
func New() *Policy { return &Policy{} }

// Configure reads {"skip":[id,...]}: agents that never get the floor, though
// they keep their place in the ring.
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

// Decide chooses the next in the ring.
func (p *Policy) Decide(in *policy.Input) policy.Decision {
	last := lastSpeaker(in)
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

// distance is how many places i lies behind last in the ring, from 1; the
// ring starts at the head of the roster when nobody has spoken.
func distance(in *policy.Input, last, i int) int {
	if i > last {
		return i - last
	}
	return i - last + len(in.Agents)
}

// lastSpeaker returns the place in the ring that the turn comes from, or -1.
// What was said since the previous decision tells it, and when nothing was,
// the latest turn. A person who attends and takes no turns does not move the
// ring: otherwise the agent behind that seat would get every other turn.
func lastSpeaker(in *policy.Input) int {
	for i := len(in.Events) - 1; i >= 0; i-- {
		if e := &in.Events[i]; e.Said() {
			seat := in.Seat(e.From)
			if seat >= 0 && (in.Agents[seat].Kind != policy.Human || in.Agents[seat].Turns > 0) {
				return seat
			}
		}
	}
	return in.LastTurn()
}

// spokeLast reports whether nobody has said anything after the agent at last.
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
