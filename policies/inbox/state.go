package inbox

import "github.com/folkmoot/moot/policies/policy"

// state is the state of the policy between decisions. Its JSON is that of the fallback
// while nothing is asked, as in earlier versions.
type state struct {
	asked    []asked     // since a message was posted
	fallback policy.JSON // state of the fallback policy
}

// An asked is a turn that an agent got although it had no message: for a task in that
// state or, without one, because the others pass.
type asked struct{ agent, task, state string }

const prefix = `{"inbox":`

// readState decodes a state. One that it cannot decode is that of the fallback.
func readState(j policy.JSON) state {
	if len(j) < len(prefix) || string(j[:len(prefix)]) != prefix {
		return state{fallback: j}
	}
	var s state
	r := policy.NewReader(j)
	for r.Object(); r.More(); {
		switch r.Key() {
		case "inbox":
			for r.Array(); r.More(); {
				if all := r.Strings(); len(all) == 3 {
					s.asked = append(s.asked, asked{all[0], all[1], all[2]})
				}
			}
		case "fallback":
			s.fallback = r.Raw()
		default:
			r.Skip()
		}
	}
	if r.Err() != nil {
		return state{fallback: j}
	}
	return s
}

// changed returns the JSON of s, or nil if it equals old.
func (s *state) changed(old policy.JSON) policy.JSON {
	next := s.fallback
	if len(s.asked) > 0 {
		var w policy.Writer
		w.Object()
		w.Key("inbox")
		w.Array()
		for _, x := range s.asked {
			w.Strings([]string{x.agent, x.task, x.state})
		}
		w.EndArray()
		if s.fallback != nil {
			w.Key("fallback")
			w.Raw(s.fallback)
		}
		w.EndObject()
		next = w.Bytes()
	}
	switch {
	case string(next) == string(old):
		return nil
	case next == nil:
		return policy.JSON("null")
	}
	return next
}

// has reports whether the agent was asked for that task, or without one.
func (s *state) has(x asked) bool {
	for _, y := range s.asked {
		if x == y {
			return true
		}
	}
	return false
}
