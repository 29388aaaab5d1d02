// Package inbox grants the turn to an agent with unread messages.
//
// It is the policy for rooms in which a manager and workers send each other typed
// messages and share a plan of tasks: an agent speaks only while it has work. The order
// is:
//
//  1. agents with urgent messages, the most urgent ones first;
//  2. the agent that the latest turn hands off to, unless a person has addressed an
//     agent since;
//  3. agents with messages, those with more first;
//  4. agents that own an open task that waits for no other one.
//
// Of equals the least recent speaker comes first. If nobody has work it declines, or
// asks the fallback policy.
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

// Decide chooses an agent that has work.
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
	if to, why := in.HandedOff(); to != nil && (best == nil || best.Urgent == 0) {
		return policy.Speak(to.ID, why)
	}
	if best != nil {
		d := policy.Speak(best.ID, reason(best))
		d.Scores = scores
		return d
	}
	if a, t := working(in); a != nil {
		return policy.Speak(a.ID, a.ID+" has the open task "+t.ID+": "+t.Title)
	}
	if stuck != "" {
		return policy.Decline(stuck)
	}
	return p.fallback.Decide(in, in.State, "all inboxes are empty")
}

// working returns the least recent speaker of the eligible agents that can work on a
// task, and the first of its tasks.
func working(in *policy.Input) (best *policy.Agent, task *policy.Task) {
	for i := range in.Agents {
		a := &in.Agents[i]
		if !a.Eligible || a.Kind == policy.Human || best != nil && a.LastTurn >= best.LastTurn {
			continue
		}
		for j := range a.Tasks {
			if a.Tasks[j].Free() {
				best, task = a, &a.Tasks[j]
				break
			}
		}
	}
	return best, task
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
