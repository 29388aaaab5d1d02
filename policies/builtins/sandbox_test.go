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
// engines.
func TestCasesInTheSandbox(t *testing.T) {
	t.Parallel()
	for _, interpreter := range []bool{false, true} {
		host, err := plugins.NewHost(plugins.Config{Interpreter: interpreter, CacheDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Run(host.Engine(), func(t *testing.T) {
			for _, name := range policies.Names() {
				sandboxed(t, host, name)
			}
		})
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	}
}

func sandboxed(t *testing.T, host *plugins.Host, name string) {
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
