// Package humanfirst lets an agent answer each message of a person first.
//
// A person who spoke waits until an agent has spoken. While a person waits, the
// turn goes to the agent that the person addressed, or else to the agent with the
// most domains in the message, or else to the agent that last spoke with the
// person. If that agent is in its cooldown, the policy waits for it. If there is
// no such agent, the fallback policy decides. If it declines, the least recent
// speaker answers: a weak answer is better than none.
//
// A hand-off is followed if no agent is to answer a person who waits, or if that agent
// itself hands off: it passes the question on. It is not followed if a person has
// addressed an agent since.
//
// While no person waits, the fallback policy decides. It is mention, unless the
// settings name another one. Several people are answered in the order in which
// they spoke. A message from one person to another does not count.
package humanfirst

import "github.com/folkmoot/moot/policies/policy"

// Policy is the human-first policy.
type Policy struct {
	anyway   bool
	fallback policy.Fallback
}

// New returns the policy with its default settings. find returns the policy with
// a name, for the setting fallback, or nil.
func New(find policy.Finder) *Policy {
	p := &Policy{anyway: true, fallback: policy.Fallback{Find: find, Default: "mention"}}
	return p
}

// Configure reads
//
//	{"answerAnyway":true,"fallback":"mention","fallbackSettings":{}}
//
// answerAnyway is whether the least recent speaker answers a person if no agent
// fits.
func (p *Policy) Configure(settings policy.JSON) error {
	p.anyway = true
	p.fallback.Reset()
	r := policy.NewReader(settings)
	for r.Object(); r.More(); {
		switch k := r.Key(); k {
		case "answerAnyway":
			p.anyway = r.Bool()
		default:
			p.fallback.Setting(k, &r)
		}
	}
	r.End()
	p.fallback.Apply(&r)
	return r.Err()
}

// Decide answers the people who wait. If there are none it asks the fallback.
func (p *Policy) Decide(in *policy.Input) policy.Decision {
	s := readState(in.State)
	for i := range in.Events {
		s.update(in, &in.Events[i])
	}
	d, done := s.answer(in)
	if to, why := in.HandedOff(); to != nil && (!done || d.Agent == in.Handoff.From) {
		d, done = policy.Speak(to.ID, why), true
	}
	if !done {
		d = p.otherwise(in, &s)
	}
	d.State = s.changed(in.State)
	return d
}

// otherwise asks the fallback. If it declines while a person waits, the least
// recent speaker answers.
func (p *Policy) otherwise(in *policy.Input, s *state) policy.Decision {
	d := p.fallback.Decide(in, s.fallback, "nobody waits for an answer")
	if d.State != nil {
		s.fallback = d.State
	}
	if len(s.waits) == 0 || d.Action != policy.ActionDecline {
		return d
	}
	who := s.waits[0].person
	a := in.LeastRecent("")
	switch {
	case !p.anyway:
		return policy.Decline(who + " waits for an answer, and nobody fits")
	case a == nil:
		return policy.Decline(who + " waits for an answer, and nobody can speak now")
	}
	return policy.Speak(a.ID, who+" waits for an answer and nobody fits better; "+a.ID+" has been silent for longest")
}
