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
// Of equals the least recent speaker comes first. An agent that does nothing with its task
// in such a turn, and posts no message, is not asked for it again before a message is
// posted. An agent with the role "manager" gets one turn then. If nobody has work the
// policy declines, or asks the fallback policy.
package inbox

import (
	"strconv"
	"strings"

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
	s := readState(in.State)
	for i := range in.Events {
		if in.Events[i].Said() {
			s.asked = nil
		}
	}
	d := p.decide(in, &s)
	d.State = s.changed(in.State)
	return d
}

func (p *Policy) decide(in *policy.Input, s *state) policy.Decision {
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
	if a, t := working(in, s); a != nil {
		if x := (asked{a.ID, t.ID, t.State}); !s.has(x) {
			s.asked = append(s.asked, x)
		}
		return policy.Speak(a.ID, a.ID+" has an open task")
	}
	if stuck != "" {
		return policy.Decline(stuck)
	}
	return p.otherwise(in, s)
}

// otherwise decides when no agent has work that it was not asked for.
func (p *Policy) otherwise(in *policy.Input, s *state) policy.Decision {
	why := "all inboxes are empty"
	if id := idle(in, s); id != "" {
		why = id + " does nothing with its open task"
		for i := range in.Agents {
			if a := &in.Agents[i]; a.Eligible && a.Kind != policy.Human && strings.EqualFold(a.Role, "manager") && !s.has(asked{agent: a.ID}) {
				s.asked = append(s.asked, asked{agent: a.ID})
				return policy.Speak(a.ID, why)
			}
		}
	}
	d := p.fallback.Decide(in, s.fallback, why)
	if d.State != nil {
		s.fallback = policy.JSON(nil)
		if string(d.State) != "null" {
			s.fallback = d.State
		}
	}
	return d
}

// idle returns the id of an agent that was asked for its task in vain, or "".
func idle(in *policy.Input, s *state) string {
	for i := range in.Agents {
		a := &in.Agents[i]
		for j := range a.Tasks {
			if t := &a.Tasks[j]; t.Free() && s.has(asked{a.ID, t.ID, t.State}) {
				return a.ID
			}
		}
	}
	return ""
}

// working returns the least recent speaker of the eligible agents that can work on a
// task, and the first of its tasks. An agent that was asked for that task in vain is none
// of them, unless its turn has failed.
func working(in *policy.Input, s *state) (best *policy.Agent, task *policy.Task) {
	for i := range in.Agents {
		a := &in.Agents[i]
		if !a.Eligible || a.Kind == policy.Human || best != nil && a.LastTurn >= best.LastTurn {
			continue
		}
		for j := range a.Tasks {
			t := &a.Tasks[j]
			if !t.Free() {
				continue
			}
			if a.Failures > 0 || !s.has(asked{a.ID, t.ID, t.State}) {
				best, task = a, t
			}
			break
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
