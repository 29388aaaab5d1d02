package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/policies/policy"
)

func TestMinHost(t *testing.T) {
	for _, c := range []struct {
		want, have string
		ok         bool
	}{
		{"", "v1.0.0", true},
		{"1.0.0", "v1.0.0", true},
		{"1.0.0", "v1.2.0", true},
		{"1.3.0", "v1.2.0", false},
		{"1.0.0", "v1.0.0-rc.1", false},
		{"9.0.0", "(devel)", true},
	} {
		s := supply{Manifest: policy.Manifest{Name: "new", MinHost: c.want}}
		if err := s.checkVersion(c.have); (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "[POL-HOST]") {
			t.Errorf("wants %q, has %q: %v", c.want, c.have, err)
		}
	}
}

// A module says by itself what it is called and may use, wherever it lies.
func TestModuleIsItsManifest(t *testing.T) {
	module := []byte("\x00asm\x01\x00\x00\x00")
	s, err := ofModule(module, originFile, filepath.Join("x", "Odd Name.wasm"))
	if err != nil || s.Manifest.Name != "unnamed" || s.named {
		t.Errorf("without one: %+v, %v", s, err)
	}
	carrying, err := pack.EmbedManifest(module, policy.Manifest{Name: "greedy", Version: "1.0.0", ABI: 1, Limits: policy.ManifestLimits{Fuel: 400_000_000}})
	if err != nil {
		t.Fatal(err)
	}
	s, err = ofModule(carrying, originLog, "x")
	if err != nil || s.Manifest.Name != "greedy" || s.Manifest.SHA256 != pack.Digest(carrying) {
		t.Fatalf("with one: %+v, %v", s, err)
	}
	for _, allow := range []bool{false, true} {
		m := (&app{allowFuel: allow}).module(s, nil)
		if m.Trusted || m.AllowFuel != allow || m.Limits.Fuel != 400_000_000 {
			t.Errorf("loaded as %+v", m)
		}
	}
}

// What a flag names by itself may be a name, or a folder beside it without ./
func TestNameOrFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	a := &app{stderr: os.Stderr}
	if err := os.Mkdir("mine", 0o700); err != nil {
		t.Fatal(err)
	}
	if s, err := a.namedPolicy(t.Context(), "mention"); err != nil || s.Origin != originBuiltIn {
		t.Errorf("a name: %+v, %v", s, err)
	}
	for arg, want := range map[string]string{"mine": "POL-FOLDER", "./mine": "POL-FOLDER", "yours": "ROOM-POLICY", "./yours": "ROOM-POLICY", "Mention": "ROOM-POLICY"} {
		if _, err := a.namedPolicy(t.Context(), arg); codeOfError(err) != want {
			t.Errorf("%s: %v, want %s", arg, err, want)
		}
	}
}
