package templates_test

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies/policytest"
	"github.com/folkmoot/moot/policies/templates"
)

// With -update the answers of the first template that runs replace the recorded
// answers of policytest. Copy them into the templates afterwards:
//
//	go test ./policies/templates -run TestTemplates/go -update
var update = flag.Bool("update", false, "replace the recorded answers by the given ones")

// noToolchain is the exit code of a build script whose compiler is missing.
const noToolchain = 3

// write creates the folder of a new policy.
func write(t *testing.T, lang, name string) string {
	t.Helper()
	files, ok := templates.Files(lang, name)
	if !ok {
		t.Fatalf("no template for %s", lang)
	}
	dir := filepath.Join(t.TempDir(), name)
	for _, f := range files {
		mode := os.FileMode(0o644)
		if f.Executable {
			mode = 0o755
		}
		to := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, f.Data, mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// build runs the build script of the folder and returns the module.
func build(t *testing.T, dir string) []byte {
	t.Helper()
	cmd := exec.Command("sh", "build.sh")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == noToolchain {
		if os.Getenv("CI") == "true" {
			t.Fatalf("`.ci/run tools` installs this compiler, and it is missing: %s", out)
		}
		t.Skipf("not built: %s", out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wasm, err := os.ReadFile(filepath.Join(dir, "policy.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// TestTemplates creates a policy in every language, builds it with its script and
// runs its cases on both engines.
func TestTemplates(t *testing.T) {
	t.Parallel()
	for _, lang := range templates.Languages() {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			dir := write(t, lang, "my-policy")
			wasm := build(t, dir)
			t.Logf("%d bytes", len(wasm))
			cases := filepath.Join(dir, "cases")
			if *update {
				cases = "../policytest/testdata/polite"
			}
			check(t, wasm, cases)
		})
	}
}

// TestPrebuilt runs the cases on prebuilt modules, so that they are tested
// without a compiler.
func TestPrebuilt(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"assemblyscript", "c", "rust", "wat"} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			wasm, err := os.ReadFile("../policytest/testdata/guests/" + lang + ".wasm")
			if err != nil {
				t.Fatal(err)
			}
			check(t, wasm, "../policytest/testdata/polite")
		})
	}
}

func check(t *testing.T, wasm []byte, cases string) {
	t.Helper()
	all, err := policytest.Load(cases)
	if err != nil {
		t.Fatal(err)
	}
	var fuel [2][]uint64
	for i, interpreter := range []bool{false, true} {
		host, err := plugins.NewHost(plugins.Config{Interpreter: interpreter})
		if err != nil {
			t.Fatal(err)
		}
		p, err := host.Load(t.Context(), plugins.Module{Name: "polite", Wasm: wasm, Trusted: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			run := c.Check
			if *update {
				run = c.Rewrite
			}
			if err := run(func(in []byte) ([]byte, error) {
				r, err := p.Run(t.Context(), in)
				fuel[i] = append(fuel[i], r.Fuel)
				return r.Output, err
			}); err != nil {
				t.Error(host.Engine(), err)
			}
		}
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	}
	for i := range fuel[0] {
		if fuel[0][i] != fuel[1][i] {
			t.Errorf("decision %d used %d fuel on the compiler and %d on the interpreter", i, fuel[0][i], fuel[1][i])
		}
	}
}

// TestFolders: the folder of every template has the cases of policytest, byte
// for byte, a README, a manifest with the policy's name, and a build script.
func TestFolders(t *testing.T) {
	t.Parallel()
	for _, lang := range templates.Languages() {
		files, _ := templates.Files(lang, "other-name")
		have := map[string]string{}
		for _, f := range files {
			have[f.Name] = string(f.Data)
			if f.Executable != strings.HasSuffix(f.Name, ".sh") {
				t.Errorf("%s: %s: executable is %v", lang, f.Name, f.Executable)
			}
		}
		for _, name := range []string{"addressed", "handoff", "odd", "presence", "recent", "tasks"} {
			want, err := os.ReadFile("../policytest/testdata/polite/" + name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			if have["cases/"+name+".yaml"] != string(want) {
				t.Errorf("%s: cases/%s.yaml is not policytest's; copy it", lang, name)
			}
		}
		for name, want := range map[string]string{"README.md": "# other-name,", "policy.json": `"name": "other-name"`, "build.sh": "policy.wasm"} {
			if !strings.Contains(have[name], want) {
				t.Errorf("%s: %s lacks %s", lang, name, want)
			}
		}
		for name := range have {
			if strings.HasSuffix(name, "/codec_test.go") {
				t.Errorf("%s has the tests of the SDK: %s", lang, name)
			}
		}
	}
	if _, ok := templates.Files("cobol", "x"); ok {
		t.Error("there is a template for COBOL")
	}
}
