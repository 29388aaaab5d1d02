// Package inbox grants the turn to an agent with unread messages.
//
// It is the policy for rooms in which a manager and workers send each other typed
// messages: an agent speaks only while its inbox has messages. Agents with more
// urgent messages come first, then those with more messages, then the least
// recent speaker. If all inboxes are empty it declines, or asks the fallback
// policy.
package inbox

import (
	"strconv"

	"github.com/folkmoot/moot/policies/policy"
)

// Policy is the inbox policy.
type Policy struct {
	fallback policy.Fallback
}

// New returns the policy with its default settings. find returns the policy with
// a name, for the setting fallback, or nil. find may be nil.
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

// Decide chooses an agent with unread messages.
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

// before reports whether a comes before b.
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
	s := a.ID + " has " + strconv.Itoa(a.Unread) + " unread messages"
	if a.Unread == 1 {
		s = a.ID + " has 1 unread message"
	}
	if a.Urgent > 0 {
		s += ", " + strconv.Itoa(a.Urgent) + " of them urgent"
	}
	return s
}
