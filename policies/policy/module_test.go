package policy_test

import (
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

// echo answers with its settings and remembers nothing.
type echo struct{ settings string }

func (e *echo) Configure(settings policy.JSON) error {
	r := policy.NewReader(settings)
	for r.Object(); r.More(); {
		switch k := r.Key(); k {
		case "say":
			e.settings = r.String()
		default:
			r.Unknown(k)
		}
	}
	r.End()
	return r.Err()
}

func (e *echo) Decide(in *policy.Input) policy.Decision {
	return policy.Decline(e.settings + " " + in.Room)
}

func plain(*policy.Input) policy.Decision { return policy.Decision{} }

const ask = `{"abi":1,"room":"r"}`

func TestModule(t *testing.T) {
	t.Parallel()
	one := []policy.Named{{Name: "echo", Policy: &echo{settings: "default"}}}
	two := []policy.Named{{Name: "echo", Policy: &echo{}}, {Name: "plain", Policy: policy.Func(plain)}}
	for _, c := range []struct {
		name      string
		all       []policy.Named
		configure string
		refuses   string
		input     string
		want      string
	}{
		{"one, not configured", one, "", "", ask, `{"action":"decline","reason":"default r"}`},
		{"one, under any name", one, `{"policy":"./mine","settings":{"say":"hi"}}`, "", ask, `{"action":"decline","reason":"hi r"}`},
		{"one, no settings", one, `{"policy":"echo","settings":null,"later":[]}`, "", ask, `{"action":"decline","reason":"hi r"}`},
		{"one, wrong settings", one, `{"policy":"echo","settings":{"x":1}}`, `unknown key "x"`, ask, `"message":"settings: byte 5: unknown key \"x\""`},
		{"two, not configured", two, "", "", ask, `"action":"error","message":"this module holds several`},
		{"two, none of the name", two, `{"policy":"nobody"}`, "no policy nobody", ask, `"action":"error"`},
		{"two, the second", two, `{"policy":"plain","settings":{}}`, "", ask, `{"action":"decline","reason":"no decision"}`},
		{"settings for a policy without", two, `{"policy":"plain","settings":{"a":1}}`, "takes no settings", ask, `"action":"error"`},
		{"no JSON", one, `{"policy":`, "expected a string", ask, ``},
		{"bad input", one, "", "", `{"abi":1,"room":7}`, `"message":"reading the input: byte 16: expected a string"`},
		{"another ABI", one, "", "", `{"abi":2}`, `"message":"the input is of another ABI"`},
	} {
		m := policy.NewModule(c.all...)
		if c.configure != "" {
			err := m.Configure([]byte(c.configure))
			if (err == nil) != (c.refuses == "") || err != nil && !strings.Contains(err.Error(), c.refuses) {
				t.Errorf("%s: configure gave %v, want %q", c.name, err, c.refuses)
			}
		}
		for range 2 {
			if got := string(m.Decide([]byte(c.input))); !strings.Contains(got, c.want) {
				t.Errorf("%s: got %s, want %s", c.name, got, c.want)
			}
		}
	}
}

func TestModuleCutsLongReasons(t *testing.T) {
	t.Parallel()
	m := policy.NewModule(policy.Named{Name: "long", Policy: policy.Func(func(*policy.Input) policy.Decision {
		return policy.Decline(strings.Repeat("é", policy.MaxReason))
	})})
	d, err := policy.DecodeDecision(m.Decide([]byte(ask)))
	if err != nil || !strings.HasSuffix(d.Reason, "é...") || len(d.Reason) > policy.MaxReason {
		t.Errorf("%v, %q", err, d.Reason)
	}
}

func TestMentions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, term string
		want       bool
	}{
		{"the SQL here", "sql", true},
		{"sql", "SQL", true},
		{"mysql", "sql", false},
		{"sqlite", "sql", false},
		{"sql-lite", "sql", true},
		{"xsql sql", "sql", true},
		{"ésql", "sql", false},
		{"sqlé", "sql", false},
		{"a code review now", "code review", true},
		{"a", "", false},
		{"", "a", false},
		{"c++ code", "c++", true},
	} {
		if got := policy.Mentions(c.text, c.term); got != c.want {
			t.Errorf("Mentions(%q, %q) = %v", c.text, c.term, got)
		}
	}
}

func TestLookups(t *testing.T) {
	t.Parallel()
	in := policy.Input{
		Agents: []policy.Agent{
			{ID: "a", Eligible: true, LastTurn: 3},
			{ID: "b", Eligible: true, LastTurn: 1},
			{ID: "c", Ineligible: "cooldown", LastTurn: 9},
		},
		Events: []policy.Event{{From: "b", Kind: policy.KindHuman}, {From: "x", Kind: policy.KindSystem}},
	}
	if a := in.LeastRecent(""); a == nil || a.ID != "b" {
		t.Errorf("LeastRecent is %v", a)
	}
	if a := in.LeastRecent("b"); a == nil || a.ID != "a" {
		t.Errorf("LeastRecent but b is %v", a)
	}
	if in.LastTurn() != 2 || in.LastSaid().From != "b" || in.Agent("nobody") != nil || !in.Agents[2].Soon() {
		t.Error("another lookup is wrong")
	}
	if (&policy.Input{}).LastTurn() != -1 || (&policy.Input{}).LastSaid() != nil {
		t.Error("an empty input has a last speaker")
	}
}
