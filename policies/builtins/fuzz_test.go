package builtins_test

import (
	"testing"

	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/builtins"
	"github.com/folkmoot/moot/policies/policy"
)

// FuzzState gives every policy a random state and a small room. Each policy must
// return a valid decision, and the same one twice.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"turns":3,"people":[["a",1,1],["b",2,1.5]],"kinds":[0,9],"fast":[1],"weights":[0.5],"cells":"AAAB__8_"}`), "a", "b")
	f.Add([]byte(`{"waits":[["p","a","r"],[]],"with":[["p"]],"fallback":{"wait":"b","reason":"x"}}`), "p", "a")
	f.Add([]byte(`"b"`), "b", "")
	f.Add([]byte(`[[[]]]`), "\x00", "\"")
	f.Fuzz(func(t *testing.T, state []byte, from, named string) {
		answer := `{"action":"finish","reason":"r","state":` + string(state) + "}"
		if _, err := policy.DecodeDecision([]byte(answer)); err != nil {
			return // a room rejects such a state
		}
		in := policy.Input{
			ABI: policy.ABI, State: state,
			Agents: []policy.Agent{
				{ID: "a", Kind: policy.Local, Eligible: true, LastTurn: 2, Domains: []string{"x"}},
				{ID: "b", Kind: policy.Local, Ineligible: "cooldown", Unread: 1},
				{ID: "p", Kind: policy.Human},
			},
			Events: []policy.Event{
				{From: from, Kind: policy.KindHuman, Text: named, Addressed: []string{named}},
				{From: named, Kind: policy.KindMessage, Mentions: []string{from}},
			},
		}
		text := in.AppendJSON(nil)
		for _, name := range policies.Names() {
			var first string
			for i := range 2 {
				m := policy.NewModule(policy.Named{Name: name, Policy: builtins.New(name)})
				out := m.Decide(text)
				if _, err := policy.DecodeDecision(out); err != nil && !tooDeep(state) {
					t.Fatalf("%s answers %s: %v", name, out, err)
				}
				if i == 0 {
					first = string(out)
				} else if first != string(out) {
					t.Fatalf("%s answers %s, then %s", name, first, out)
				}
			}
		}
	})
}

// tooDeep reports whether a room rejects a state because of its depth.
func tooDeep(state []byte) bool {
	r := policy.NewReader([]byte(`{"state":{"fallback":` + string(state) + "}}"))
	r.Skip()
	return r.Err() != nil
}
