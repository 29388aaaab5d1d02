package mention

import "github.com/folkmoot/moot/policies/policy"

// state is the state of the policy between decisions.
type state struct {
	agent    string // id of the agent that is waited for
	reason   string
	missed   []missed    // the latest of each agent, in the order of the messages
	fallback policy.JSON // state of the fallback policy
}

// readState decodes a state. A state that it cannot decode, of an earlier version
// or of another policy, counts as none.
func readState(j policy.JSON) state {
	var s state
	if j == nil {
		return s
	}
	r := policy.NewReader(j)
	for r.Object(); r.More(); {
		switch r.Key() {
		case "wait":
			s.agent = r.String()
		case "reason":
			s.reason = r.String()
		case "missed":
			for r.Array(); r.More(); {
				if two := r.Strings(); len(two) == 2 {
					s.missed = append(s.missed, missed{two[0], two[1]})
				}
			}
		case "fallback":
			s.fallback = r.Raw()
		default:
			r.Skip()
		}
	}
	if r.Err() != nil {
		return state{}
	}
	return s
}

// due returns the agent that was waited for, if it can speak now.
func (s state) due(in *policy.Input) (*policy.Agent, string) {
	a := in.Agent(s.agent)
	if a == nil || !a.Eligible {
		return nil, ""
	}
	return a, s.reason
}

// handedOff returns the agent that the latest turn handed off to, unless an agent is
// waited for.
func (s state) handedOff(in *policy.Input) (*policy.Agent, string) {
	if s.agent != "" {
		return nil, ""
	}
	return in.HandedOff()
}

// waits reports whether the agent that was waited for becomes eligible by itself.
func (s state) waits(in *policy.Input) bool {
	a := in.Agent(s.agent)
	return a != nil && a.Soon()
}

// changed returns the JSON of s, or nil if s equals old.
func (s state) changed(old state) policy.JSON {
	if s.agent == old.agent && s.reason == old.reason && same(s.missed, old.missed) && string(s.fallback) == string(old.fallback) {
		return nil
	}
	if s.agent == "" && s.missed == nil && s.fallback == nil {
		return policy.JSON("null")
	}
	var w policy.Writer
	w.Object()
	if s.agent != "" {
		w.Key("wait")
		w.String(s.agent)
		w.Key("reason")
		w.String(s.reason)
	}
	if s.missed != nil {
		w.Key("missed")
		w.Array()
		for i := range s.missed {
			w.Array()
			w.String(s.missed[i].agent)
			w.String(s.missed[i].reason)
			w.EndArray()
		}
		w.EndArray()
	}
	if s.fallback != nil {
		w.Key("fallback")
		w.Raw(s.fallback)
	}
	w.EndObject()
	return w.Bytes()
}
