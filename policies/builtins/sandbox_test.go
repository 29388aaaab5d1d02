package builtins_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/policies/policytest"
)

// TestCasesInTheSandbox runs the same cases on the embedded module, on both
// engines. Both give the same bytes and use the same fuel for every policy.
func TestCasesInTheSandbox(t *testing.T) {
	t.Parallel()
	outcomes := map[string]outcome{}
	for _, interpreter := range []bool{false, true} {
		host, err := plugins.NewHost(plugins.Config{Interpreter: interpreter, CacheDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Run(host.Engine(), func(t *testing.T) {
			for _, name := range policies.Names() {
				sandboxed(t, host, name, outcomes)
			}
		})
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An outcome is what a decision gave on one engine.
type outcome struct {
	output, log string
	fuel        uint64
}

func sandboxed(t *testing.T, host *plugins.Host, name string, outcomes map[string]outcome) {
	t.Helper()
	cases, err := policytest.Load(filepath.Join("..", name, "testdata", "cases"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		p, err := host.Load(t.Context(), plugins.Module{
			Name: name, Wasm: policies.Module(), Digest: policies.Digest(), Settings: c.Settings, Trusted: true,
		})
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if err := c.Check(func(in []byte) ([]byte, error) {
			r, err := p.Run(t.Context(), in)
			key, got := name+" "+c.Name+" "+string(in), outcome{string(r.Output), r.Log, r.Fuel}
			if first, ok := outcomes[key]; ok && first != got {
				t.Errorf("%s: %s gives %+v, the other engine %+v", c.Name, host.Engine(), got, first)
			}
			outcomes[key] = got
			if r.Engine != host.Engine() || r.Fuel == 0 {
				t.Errorf("%s: ran on the %s with %d units of fuel", c.Name, r.Engine, r.Fuel)
			}
			return r.Output, err
		}); err != nil {
			t.Error(err)
		}
	}
}

// TestSettingsAreRefusedInTheSandbox: configure returns 0 for invalid settings,
// and logs the reason.
func TestSettingsAreRefusedInTheSandbox(t *testing.T) {
	t.Parallel()
	host, err := plugins.NewHost(plugins.Config{Interpreter: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	}()
	_, err = host.Load(t.Context(), plugins.Module{
		Name: "quiet", Wasm: policies.Module(), Settings: policy.JSON(`{"declineBelow":2}`), Trusted: true,
	})
	if err == nil || !strings.Contains(err.Error(), "declineBelow must be from 0 to 1") {
		t.Fatalf("got %v, want the policy's own words", err)
	}
}
