// Package inbox gives the floor to whoever has unread messages.
//
// It is the policy of rooms in which a manager and workers send each other
// typed messages: an agent works when something lies in its inbox and is
// silent otherwise. Urgent messages go first, then the fuller inbox, then the
// agent that has been silent for longest. When all inboxes are empty it
// declines, or follows the fallback policy.
package inbox

import (
	"strconv"

	"github.com/folkmoot/moot/policies/policy"
)

// Policy is the inbox policy.
type Policy struct {
	fallback policy.Fallback
}

// New returns the policy with its default settings. find returns the built-in
// policy of a name, for the setting fallback; nil means there is none.
func New(find policy.Finder) *Policy { return &Policy{policy.Fallback{Find: find}} }

// Configure reads
//
//	{"fallback":"decline","fallbackSettings":{}}
func (p *Policy) Configure(settings policy.JSON) error {
	p.fallback.Reset()
	r := policy.NewReader(settings)
	for r.Object(); r.More(); {
		p.fallback.Setting(r.Key(), &r)
	}
	r.End()
	p.fallback.Apply(&r)
	return r.Err()
}

// Decide chooses the inbox to be emptied next.
func (p *Policy) Decide(in *policy.Input) policy.Decision {
	var best *policy.Agent
	stuck := ""
	scores := make([]policy.Score, 0, len(in.Agents))
	for i := range in.Agents {
		a := &in.Agents[i]
		switch {
		case a.Unread == 0 || a.Kind == policy.Human:
		case !a.Eligible:
			if stuck == "" {
				stuck = a.ID + " has unread messages and cannot speak now (" + a.Ineligible + ")"
			}
		default:
			scores = append(scores, policy.Score{Agent: a.ID, Score: float64(a.Urgent)*1000 + float64(a.Unread)})
			if best == nil || before(a, best) {
				best = a
			}
		}
	}
	if best != nil {
		d := policy.Speak(best.ID, reason(best))
		d.Scores = scores
		return d
	}
	if stuck != "" {
		return policy.Decline(stuck)
	}
	return p.fallback.Decide(in, in.State, "all inboxes are empty")
}

// before reports whether a is to be served before b.
func before(a, b *policy.Agent) bool {
	switch {
	case a.Urgent != b.Urgent:
		return a.Urgent > b.Urgent
	case a.Unread != b.Unread:
		return a.Unread > b.Unread
	}
	return a.LastTurn < b.LastTurn
}

func reason(a *policy.Agent) string {
	s := a.ID + " has " + strconv.Itoa(a.Unread) + " unread"
	if a.Urgent > 0 {
		s += ", " + strconv.Itoa(a.Urgent) + " of them urgent"
	}
	return s
}
