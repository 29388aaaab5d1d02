package main

import "github.com/folkmoot/moot/policies/policy"

// decide declines with all hand-offs and tasks of the input.
func decide(in *policy.Input) policy.Decision {
	s := ""
	if h := in.Handoff; h != nil {
		s = h.From + ">" + h.To + ":" + h.Reason
	}
	for _, a := range in.Agents {
		s += ";" + a.ID
		for _, t := range a.Tasks {
			s += " " + t.ID + "/" + t.Title + "/" + t.State
			for _, id := range t.After {
				s += "+" + id
			}
		}
	}
	return policy.Decline(s)
}
