package builtins_test

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/builtins"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/policies/policytest"
)

var update = flag.Bool("update", false, "replace the recorded answers by those given")

func TestNamesAgree(t *testing.T) {
	t.Parallel()
	names := make([]string, 0, 8)
	for _, p := range builtins.All() {
		names = append(names, p.Name)
		if m := policies.Manifest(p.Name); m.Name != p.Name || m.ABI != policy.ABI || m.SHA256 != policies.Digest() {
			t.Errorf("manifest of %s: %+v", p.Name, m)
		}
	}
	if !slices.IsSorted(names) || !slices.Equal(names, policies.Names()) {
		t.Errorf("module has %v, policies.Names is %v", names, policies.Names())
	}
	if builtins.New("nobody") != nil {
		t.Error("a policy of no name")
	}
}

// TestCases runs the cases of every built-in policy.
func TestCases(t *testing.T) {
	t.Parallel()
	for _, name := range policies.Names() {
		cases, err := policytest.Load(filepath.Join("..", name, "testdata", "cases"))
		if err != nil {
			t.Error(err)
		}
		for _, c := range cases {
			t.Run(name+"/"+strings.TrimSuffix(filepath.Base(c.Name), ".yaml"), func(t *testing.T) {
				ask, err := policytest.Native(policy.Named{Name: name, Policy: builtins.New(name)}, c.Settings)
				if err != nil {
					t.Fatal(err)
				}
				if *update {
					err = c.Rewrite(ask)
				} else {
					err = c.Check(ask)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestSettingsAreStrict: a policy rejects the settings that its schema rejects.
func TestSettingsAreStrict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, settings, want string }{
		{"roundrobin", `{"skipp":[]}`, `unknown key "skipp"`},
		{"roundrobin", `{"skip":"a"}`, "expected an array"},
		{"mention", `{"lookback":0}`, "lookback must be 1 or more"},
		{"mention", `{"fallback":"nobody"}`, "no policy nobody to fall back on"},
		{"mention", `{"fallback":"roundrobin","fallbackSettings":{"x":1}}`, `fallbackSettings: byte 5: unknown key "x"`},
		{"humanfirst", `{"answerAnyway":1}`, "expected true or false"},
		{"quiet", `{"declineBelow":2}`, "declineBelow must be from 0 to 1"},
		{"alternate", `{"first":1}`, "expected a string"},
		{"habit", `{"rule":"best"}`, "no rule best"},
		{"inbox", `{"urgent":true}`, `unknown key "urgent"`},
		{"inbox", `{} {}`, "expected a comma"},
		{"wasteguard", `{"flag":0}`, "flag must be from 1 to 50"},
		{"wasteguard", `{"model":{}}`, "model needs weights, means and cuts"},
	} {
		_, err := policytest.Native(policy.Named{Name: c.name, Policy: builtins.New(c.name)}, policy.JSON(c.settings))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: got %v, want %q", c.name, c.settings, err, c.want)
		}
	}
}

// TestDefaultSettings: the manifest's default_config is valid and equals the
// defaults of the policy.
func TestDefaultSettingsAreTheDefault(t *testing.T) {
	t.Parallel()
	in := policy.Input{ABI: 1, Agents: []policy.Agent{
		{ID: "a", Kind: policy.Local, Eligible: true, LastTurn: 1}, {ID: "b", Kind: policy.Local, Eligible: true},
	}, Events: []policy.Event{{From: "a", Kind: policy.KindMessage, Addressed: []string{"b"}}}}
	text := in.AppendJSON(nil)
	for _, name := range policies.Names() {
		with, ok := policies.Manifest(name).DefaultConfig.(policy.JSON)
		if !ok {
			t.Fatalf("%s has no default_config", name)
		}
		var got [2]string
		for i, settings := range []policy.JSON{policy.JSON("{}"), with} {
			ask, err := policytest.Native(policy.Named{Name: name, Policy: builtins.New(name)}, settings)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			out, _ := ask(text)
			got[i] = string(out)
		}
		if got[0] != got[1] {
			t.Errorf("%s: {} gives %s, default_config %s", name, got[0], got[1])
		}
	}
}
