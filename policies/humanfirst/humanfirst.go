// Package humanfirst answers people before anything else.
//
// A person who spoke waits until an agent has spoken. While one waits, the
// floor goes to the agent they addressed; else to the one whose domains their
// words fit best; else to the one that last spoke with them. Who is asked for
// but cools down is waited for. When nobody fits, the fallback policy says,
// and if that declines too, the agent that has been silent for longest
// answers: to leave a person without an answer is worse than a weak one.
//
// While nobody waits, the fallback policy decides: mention, unless the
// settings name another. Several people are answered in the order in which
// they spoke. What one person says to another person makes nobody wait.
package humanfirst

import "github.com/folkmoot/moot/policies/policy"

// Policy is the human-first policy.
type Policy struct {
	anyway   bool
	fallback policy.Fallback
}

// New returns the policy with its default settings. find returns the built-in
// policy of a name, for the setting fallback.
func New(find policy.Finder) *Policy {
	p := &Policy{anyway: true, fallback: policy.Fallback{Find: find, Default: "mention"}}
	return p
}

// Configure reads
//
//	{"answerAnyway":true,"fallback":"mention","fallbackSettings":{}}
//
// answerAnyway is whether somebody answers a person whom nobody fits.
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

// Decide answers who waits, and follows the fallback when nobody does.
func (p *Policy) Decide(in *policy.Input) policy.Decision {
	s := readState(in.State)
	for i := range in.Events {
		s.hear(in, &in.Events[i])
	}
	d, done := s.answer(in)
	if !done {
		d = p.otherwise(in, &s)
	}
	d.State = s.changed(in.State)
	return d
}

// otherwise asks the fallback, and helps a person whom it leaves alone.
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
