package policytest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/policies/policytest"
)

const counting = `# A comment that stays.
about: It counts.
input:
  agents: [{id: a}, {id: p, kind: human}]
steps:
  - about: one
    want: '{"action":"decline","reason":"1 a","state":1}'
  - about: two # why
    input: {events: [{from: a, text: x}]}
    want: '{"action":"decline","reason":"2 a","state":2}'
  - about: a state of its own
    input: {state: 41}
    want: wrong
`

// count declines with a number that is one more than its state.
func count(in *policy.Input) policy.Decision {
	n := int64(0)
	if in.State != nil {
		r := policy.NewReader(in.State)
		n = r.Int()
	}
	var w policy.Writer
	w.Int(n + 1)
	d := policy.Decline(string(w.Bytes()) + " " + in.LeastRecent("").ID)
	d.State = w.Bytes()
	return d
}

func native(t *testing.T, f policy.Func) policytest.Ask {
	t.Helper()
	ask, err := policytest.Native(policy.Named{Name: "count", Policy: f}, policy.JSON("{}"))
	if err != nil {
		t.Fatal(err)
	}
	return ask
}

func TestStateIsCarriedFromStepToStep(t *testing.T) {
	t.Parallel()
	c, err := policytest.Parse("count.yaml", []byte(counting))
	if err != nil {
		t.Fatal(err)
	}
	results := c.Run(native(t, count))
	for i, want := range []bool{true, true, false} {
		if results[i].Same() != want {
			t.Errorf("step %d: %s, error %v", i+1, results[i].Got, results[i].Err)
		}
	}
	err = c.Check(native(t, count))
	for _, want := range []string{"count.yaml: step 3, a state of its own", "want wrong", `got  {"action":"decline","reason":"42 a"`, `input {"abi":1`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not show %q", err, want)
		}
	}
	const first = `{"abi":1,"init":true,"room":"case","decision":1,"turn":1,"now_ms":0,`
	if got := string(results[0].Input); !strings.HasPrefix(got, first) || !strings.Contains(got, `"ineligible_reason":"attends"`) {
		t.Errorf("first input is %s", got)
	}
}

func TestRewriteKeepsTheRest(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "count.yaml")
	if err := os.WriteFile(name, []byte(counting), 0o600); err != nil {
		t.Fatal(err)
	}
	cases, err := policytest.Load(filepath.Dir(name))
	if err != nil || len(cases) != 1 {
		t.Fatal(cases, err)
	}
	if err := cases[0].Rewrite(native(t, count)); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(counting, "want: wrong", `want: '{"action":"decline","reason":"42 a","state":42}'`, 1)
	if string(got) != want {
		t.Errorf("rewritten as\n%s", got)
	}
}

func TestAnAnswerThatIsNoneEndsTheCase(t *testing.T) {
	t.Parallel()
	c, err := policytest.Parse("count.yaml", []byte(counting))
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]policytest.Ask{
		"no decision": func([]byte) ([]byte, error) { return []byte(`{"action":"decline"}`), nil },
		"a trap":      func([]byte) ([]byte, error) { return nil, errors.New("unreachable") },
	} {
		if err := c.Check(ask); err == nil || !strings.Contains(err.Error(), "2 of 3 steps were not asked") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"steps: []":                              "a case needs steps",
		"step: []":                               "field step not found",
		"steps: [{input: {agents: [{ids: a}]}}]": "field ids not found",
		"steps: [{input: {turn: x}}]":            "cannot unmarshal",
	} {
		if _, err := policytest.Parse("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	if _, err := policytest.Load(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty folder gave %v", err)
	}
}
