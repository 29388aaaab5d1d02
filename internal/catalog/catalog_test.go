package catalog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
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
		s := Entry{Manifest: policy.Manifest{Name: "new", MinHost: c.want}}
		if err := s.checkVersion(c.have); (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "[POL-HOST]") {
			t.Errorf("wants %q, has %q: %v", c.want, c.have, err)
		}
	}
}

// A module carries its own name and limits, whatever its file is called.
func TestModuleIsItsManifest(t *testing.T) {
	module := []byte("\x00asm\x01\x00\x00\x00")
	s, err := fromModule(module, File, filepath.Join("x", "Odd Name.wasm"))
	if err != nil || s.Manifest.Name != "unnamed" || s.named {
		t.Errorf("without one: %+v, %v", s, err)
	}
	carrying, err := pack.EmbedManifest(module, policy.Manifest{Name: "greedy", Version: "1.0.0", ABI: 1, Limits: policy.ManifestLimits{Fuel: 400_000_000}})
	if err != nil {
		t.Fatal(err)
	}
	s, err = fromModule(carrying, Log, "x")
	if err != nil || s.Manifest.Name != "greedy" || s.Manifest.SHA256 != pack.Digest(carrying) {
		t.Fatalf("with one: %+v, %v", s, err)
	}
	for _, allow := range []bool{false, true} {
		m := s.Module(nil, allow)
		if m.Trusted || m.AllowFuel != allow || m.Limits.Fuel != 400_000_000 {
			t.Errorf("loaded as %+v", m)
		}
	}
}

// An argument is a name, or a folder without ./ before it.
func TestNameOrFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	c := &Catalog{Store: pack.NewStore(t.TempDir())}
	if err := os.Mkdir("mine", 0o700); err != nil {
		t.Fatal(err)
	}
	if s, err := c.Named(t.Context(), "mention"); err != nil || s.Origin != BuiltIn {
		t.Errorf("a name: %+v, %v", s, err)
	}
	for _, arg := range []string{"round-robin", "round_robin", "RoundRobin", "roundrobin"} {
		if s, err := c.Named(t.Context(), arg); err != nil || s.Use != "roundrobin" {
			t.Errorf("%s: %+v, %v", arg, s, err)
		}
	}
	for arg, want := range map[string]string{"mine": "POL-FOLDER", "./mine": "POL-FOLDER", "yours": "ROOM-POLICY", "./yours": "ROOM-POLICY", "menton": "ROOM-POLICY"} {
		if _, err := c.Named(t.Context(), arg); codeOf(err) != want {
			t.Errorf("%s: %v, want %s", arg, err, want)
		}
	}
}

// A module from elsewhere may not have the name of a built-in policy, neither in
// its manifest nor by its file, nor another spelling of it. In a log it may: a room of another release has
// its built-in policies there.
func TestNameOfBuiltIn(t *testing.T) {
	dir := t.TempDir()
	module := []byte("\x00asm\x01\x00\x00\x00")
	carrying, err := pack.EmbedManifest(module, policy.Manifest{Name: "mention", Version: "1.0.0", ABI: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := &Catalog{Store: pack.NewStore(t.TempDir())}
	dashed, err := pack.EmbedManifest(module, policy.Manifest{Name: "human-first", Version: "1.0.0", ABI: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]struct {
		module []byte
		code   string
	}{
		"roundrobin.wasm": {module, "POL-NAME"}, "Round-Robin.wasm": {module, "POL-NAME"}, "mine.wasm": {carrying, "POL-NAME"},
		"dashed.wasm": {dashed, "POL-NAME"}, "other.wasm": {module, ""},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), file.module, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Find(t.Context(), dir, "./"+name); codeOf(err) != file.code {
			t.Errorf("%s: %v, want %q", name, err, file.code)
		}
	}
	if _, err := fromLog(carrying, "mention", pack.Digest(carrying)); err != nil {
		t.Errorf("in the log: %v", err)
	}
}

// TestAll: the list has the built-in policies and the installed ones, but none that was
// altered.
func TestAll(t *testing.T) {
	dir := t.TempDir()
	c := &Catalog{Store: pack.NewStore(dir)}
	before, err := c.All(t.Context())
	if err != nil || len(before) != len(policies.Names()) {
		t.Fatalf("%d policies, %v", len(before), err)
	}
	for _, name := range []string{"mine", "altered"} {
		file, err := pack.Write(pack.Pack{Manifest: policy.Manifest{Name: name, Version: "1.0.0", ABI: 1}, Module: []byte("\x00asm\x01\x00\x00\x00")})
		if err != nil {
			t.Fatal(err)
		}
		digest, err := c.Store.Put(name, file)
		if err == nil && name == "altered" {
			err = os.WriteFile(c.Store.Path(name, digest), file[1:], 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	all, err := c.All(t.Context())
	if err != nil || len(all) != len(before)+1 || all[len(before)].Use != "mine" || all[len(before)].Origin != Installed {
		t.Errorf("%d policies, %v", len(all), err)
	}
}

func codeOf(err error) string {
	if c, ok := errors.AsType[problem.Coded](err); ok {
		return c.ErrorCode()
	}
	return ""
}
