package main

import "github.com/folkmoot/moot/policies/policy"

// decide chooses the next speaker. It is a pure function of in.
func decide(in *policy.Input) policy.Decision {
	e, from := in.LastSaid(), ""
	if h := in.Handoff; h != nil && (e == nil || e.Kind != policy.KindHuman) {
		if a := in.Agent(h.To); a != nil && a.Eligible {
			return policy.Speak(h.To, h.From+" hands off to "+h.To+": "+h.Reason)
		}
	}
	if e != nil {
		from = e.From
		for _, id := range e.Addressed {
			if a := in.Agent(id); a != nil && a.Eligible && id != from {
				return policy.Speak(id, from+" addressed "+id)
			}
		}
	}
	if a := in.LeastRecent(from); a != nil {
		return policy.Speak(a.ID, a.ID+" has been silent for longest")
	}
	return policy.Decline("nobody else can speak now")
}
