package authoring

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/problem"
)

func code(err error) string {
	var p *problem.Error
	if errors.As(err, &p) {
		return p.Code
	}
	return ""
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// folder is a policy whose compiler is printf.
func folder(t *testing.T, script string) *Folder {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "policy.json"), `{"name":"tiny","version":"1.0.0","abi":1}`)
	put(t, filepath.Join(dir, "build.sh"), script)
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const compiles = "echo built >>builds.md\nprintf '\\000asm\\001\\000\\000\\000' >policy.wasm\n"

func TestRebuiltWhenSourcesChange(t *testing.T) {
	t.Parallel()
	f := folder(t, compiles)
	builds := 0
	module := func() []byte {
		t.Helper()
		m, err := f.Module(t.Context(), io.Discard, func() { builds++ })
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	first := module()
	if m, ok, err := pack.ManifestOf("it", first); err != nil || !ok || m.Name != "tiny" {
		t.Errorf("the module carries %+v, %v, %v", m, ok, err)
	}
	put(t, f.Path("README.md"), "tiny")
	contents, err := f.Pack(first)
	if err != nil {
		t.Fatal(err)
	}
	file, err := pack.Write(contents)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := pack.Read("it", file); err != nil || pack.Digest(p.Module) != pack.Digest(first) {
		t.Errorf("the module in the pack is another: %v", err)
	}
	for _, step := range []struct {
		what string
		do   func()
		want int
	}{
		{"nothing", func() {}, 1},
		{"a README", func() { put(t, f.Path("README.md"), "x") }, 1},
		{"a case", func() { put(t, f.Path("cases/a.yaml"), "x") }, 1},
		{"a hidden file", func() { put(t, f.Path(".git/config"), "x") }, 1},
		{"what npm brings", func() { put(t, f.Path("node_modules/x/y.js"), "x") }, 1},
		{"the same bytes again", func() { put(t, f.Path("build.sh"), compiles) }, 1},
		{"a source", func() { put(t, f.Path("src/a.c"), "x") }, 2},
		{"its name", func() {
			if err := os.Rename(f.Path("src/a.c"), f.Path("src/b.c")); err != nil {
				t.Fatal(err)
			}
		}, 3},
		{"the script", func() { put(t, f.Path("build.sh"), compiles+"#\n") }, 4},
		{"the manifest", func() { put(t, f.Path("policy.json"), `{"name":"tiny","version":"1.0.1","abi":1}`) }, 5},
		{"the module", func() { put(t, f.Path("policy.wasm"), "\x00asm\x01\x00\x00\x00") }, 6},
		{"no module", func() {
			if err := os.Remove(f.Path("policy.wasm")); err != nil {
				t.Fatal(err)
			}
		}, 7},
	} {
		step.do()
		if module(); builds != step.want {
			t.Errorf("after %s: %d builds, want %d", step.what, builds, step.want)
			builds = step.want
		}
	}
}

func TestBuildSays(t *testing.T) {
	t.Parallel()
	for script, c := range map[string]struct{ code, says, fix string }{
		"echo 'no zc: apt install zc' >&2; exit 3":    {"POL-TOOLCHAIN", "no zc", "apt install zc"},
		"echo 'a.c:3: syntax' >&2; exit 1":            {"POL-BUILD", "a.c:3: syntax", ""},
		"true":                                        {"POL-BUILD", "there is no policy.wasm", ""},
		"echo text >policy.wasm":                      {"POL-BUILD", "not a WebAssembly module", ""},
		"head -c 9000000 /dev/zero >policy.wasm":      {"POL-BUILD", "at most 8388608", ""},
		"echo 'build.sh: 5: go: not found'; exit 127": {"POL-TOOLCHAIN", "no go", "https://go.dev/dl"},
	} {
		var said strings.Builder
		_, err := folder(t, script).Build(t.Context(), &said)
		var p *problem.Error
		if !errors.As(err, &p) || p.Code != c.code || !strings.Contains(p.What, c.says) || !strings.Contains(p.Fix, c.fix) {
			t.Errorf("%s: %v, want %s with %q", script, err, c.code, c.says)
		}
		if strings.Contains(script, "syntax") != strings.Contains(said.String(), "syntax") {
			t.Errorf("%s: said %q", script, said.String())
		}
		if errors.Is(err, ErrToolchain) != (c.code == "POL-TOOLCHAIN") {
			t.Errorf("%s: kind of %v", script, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	if _, err := Open(t.TempDir()); code(err) != "POL-FOLDER" {
		t.Errorf("an empty folder: %v", err)
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "policy.json"), `{"name":"tiny"}`)
	if _, err := Open(dir); code(err) != "POL-ABI" {
		t.Errorf("half a manifest: %v", err)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "my-policy")
	f, names, err := New(dir, "c")
	if err != nil {
		t.Fatal(err)
	}
	if f.Manifest.Name != "my-policy" || len(names) < 6 {
		t.Errorf("%s with %v", f.Manifest.Name, names)
	}
	if st, err := os.Stat(f.Path("build.sh")); err != nil || st.Mode().Perm()&0o100 == 0 {
		t.Errorf("build.sh: %v, %v", st.Mode(), err)
	}
	if cases, err := f.Cases(); err != nil || len(cases) < 3 {
		t.Errorf("cases %v, %v", cases, err)
	}
	for path, want := range map[string]string{dir: "POL-EXISTS", dir + "/Polite": "POL-NAME", dir + "/mention": "POL-NAME", dir + "/round-robin": "POL-NAME", dir + "/x": "CLI-USAGE"} {
		lang := "c"
		if want == "CLI-USAGE" {
			lang = "cobol"
		}
		if _, _, err := New(path, lang); code(err) != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}
