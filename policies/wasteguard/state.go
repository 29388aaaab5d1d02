package wasteguard

import "github.com/folkmoot/moot/policies/policy"

// state is the state of the policy between decisions.
type state struct {
	watch    Watch
	flag     string      // why a person should look; empty if no flag is open
	fallback policy.JSON // state of the fallback policy
}

// readState decodes a state. A state that it cannot decode counts as none.
func readState(j policy.JSON) state {
	var s state
	if j == nil {
		return s
	}
	r := policy.NewReader(j)
	for r.Object(); r.More(); {
		switch r.Key() {
		case "said":
			s.watch.Said = int(max(r.Int(), 0))
		case "person":
			s.watch.Person = r.Bool()
		case "flag":
			s.flag = r.String()
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

func (s *state) json() policy.JSON {
	var w policy.Writer
	w.Object()
	w.Key("said")
	w.Int(int64(s.watch.Said))
	if s.watch.Person {
		w.Key("person")
		w.Bool(true)
	}
	if s.flag != "" {
		w.Key("flag")
		w.String(s.flag)
	}
	if s.fallback != nil {
		w.Key("fallback")
		w.Raw(s.fallback)
	}
	w.EndObject()
	return w.Bytes()
}
