package humanfirst

import "github.com/folkmoot/moot/policies/policy"

// state is the state of the policy between decisions.
type state struct {
	waits    []wait
	with     []pair
	fallback policy.JSON // state of the fallback policy
}

// A pair holds a person and the agent that last spoke with the person.
type pair struct{ person, agent string }

// readState decodes a state. A state that it cannot decode counts as none.
func readState(j policy.JSON) state {
	var s state
	if j == nil {
		return s
	}
	r := policy.NewReader(j)
	for r.Object(); r.More(); {
		switch r.Key() {
		case "waits":
			for r.Array(); r.More(); {
				s.waits = append(s.waits, readWait(&r))
			}
		case "with":
			for r.Array(); r.More(); {
				if two := r.Strings(); len(two) == 2 {
					s.with = append(s.with, pair{two[0], two[1]})
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

// readWait reads [person, agent, reason, agent, reason, ...].
func readWait(r *policy.Reader) wait {
	all := r.Strings()
	if len(all) == 0 {
		return wait{}
	}
	w := wait{person: all[0]}
	for i := 1; i+1 < len(all); i += 2 {
		w.wants = append(w.wants, want{all[i], all[i+1]})
	}
	return w
}

// changed returns the JSON of s, or nil if it equals old.
func (s *state) changed(old policy.JSON) policy.JSON {
	if len(s.waits) == 0 && len(s.with) == 0 && s.fallback == nil {
		if old == nil {
			return nil
		}
		return policy.JSON("null")
	}
	var w policy.Writer
	w.Object()
	if len(s.waits) > 0 {
		w.Key("waits")
		w.Array()
		for i := range s.waits {
			s.waits[i].write(&w)
		}
		w.EndArray()
	}
	if len(s.with) > 0 {
		w.Key("with")
		w.Array()
		for _, p := range s.with {
			w.Strings([]string{p.person, p.agent})
		}
		w.EndArray()
	}
	if s.fallback != nil {
		w.Key("fallback")
		w.Raw(s.fallback)
	}
	w.EndObject()
	if string(w.Bytes()) == string(old) {
		return nil
	}
	return w.Bytes()
}

func (x *wait) write(w *policy.Writer) {
	w.Array()
	w.String(x.person)
	for _, y := range x.wants {
		w.String(y.agent)
		w.String(y.reason)
	}
	w.EndArray()
}
