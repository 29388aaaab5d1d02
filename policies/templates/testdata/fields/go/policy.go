package main

import "github.com/folkmoot/moot/policies/policy"

// decide declines with all hand-offs, tasks and silences of the input.
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
	s += "|" + in.Replaced
	for _, e := range in.Events {
		for _, id := range e.Silent {
			s += "-" + id
		}
		s += e.Kind
	}
	return policy.Decline(s)
}
