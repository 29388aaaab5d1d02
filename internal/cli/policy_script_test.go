//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/folkmoot/moot/internal/cli/policycmd"
	"github.com/folkmoot/moot/policies/templates"
)

// TestPolicyScripts runs the author's tools as they are typed.
func TestPolicyScripts(t *testing.T) {
	cache, root := sharedCache(t), moduleRoot(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/policy",
		Setup: func(env *testscript.Env) error {
			env.Setenv("ROOT", root)
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("MOOT_DATA", filepath.Join(env.WorkDir, "data"))
			env.Setenv("MOOT_CACHE", cache)
			env.Setenv("GOCACHE", goCache(t))
			env.Setenv("NO_COLOR", "1")
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, errors.New("unknown condition")
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":  exits,
			"roomid": roomID,
			"flip":   flip,
			"same":   same,
		},
	})
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// goCache keeps policies in Go from compiling the standard library each time.
func goCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// flip changes one bit in the middle of a file:
//
//	flip polite-1.0.0.tar.gz
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: flip FILE")
	}
	path := ts.MkAbs(args[0])
	b, err := os.ReadFile(path)
	ts.Check(err)
	b[len(b)/2] ^= 1
	ts.Check(os.WriteFile(path, b, 0o600))
}

// same wants two files of the same bytes; cmp is for text.
func same(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: same FILE FILE")
	}
	a, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	b, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	if bytes.Equal(a, b) == neg {
		ts.Fatalf("%s and %s: same bytes is %v", args[0], args[1], !neg)
	}
}

// TestNewInEveryLanguage: a new policy compiles and passes its own cases at
// once, where its compiler is; elsewhere it says what to install.
func TestNewInEveryLanguage(t *testing.T) {
	cache, goCache := sharedCache(t), goCache(t)
	for _, lang := range templates.Languages() {
		t.Run(lang, func(t *testing.T) {
			dir := t.TempDir()
			var stderr bytes.Buffer
			cmd := exec.Command("moot", "policy", "new", "my-policy", "--lang", lang, "-o", "json")
			cmd.Dir, cmd.Stderr = dir, &stderr
			cmd.Env = append(os.Environ(), "MOOT_DATA="+filepath.Join(dir, "data"), "MOOT_CACHE="+cache, "GOCACHE="+goCache, "GOPROXY=off")
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			var s policycmd.Started
			if err := json.Unmarshal(out, &s); err != nil {
				t.Fatal(err)
			}
			if s.Missing != "" {
				if lang == "go" || os.Getenv("CI") == "true" {
					t.Fatalf("the compiler should be here: %s", s.Missing)
				}
				t.Skipf("no compiler for %s here: %s", lang, s.Missing)
			}
			if !s.Built || s.Test == nil || s.Test.Passed < 3 || s.Test.Failed > 0 || len(s.Test.Engines) != 2 || s.Test.Policy != "my-policy" {
				t.Errorf("%s", out)
			}
		})
	}
}

// TestNewWithoutCompiler: the folder is complete, and the user is told what to
// install.
func TestNewWithoutCompiler(t *testing.T) {
	moot, err := exec.LookPath("moot")
	if err != nil {
		t.Fatal(err)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skipf("no shell to run build.sh with: %v", err)
	}
	bin, dir := t.TempDir(), t.TempDir()
	for _, tool := range []string{sh, "/usr/bin/dirname"} {
		if err := os.Symlink(tool, filepath.Join(bin, filepath.Base(tool))); err != nil {
			t.Fatal(err)
		}
	}
	for lang, want := range map[string]string{"go": "go.dev/dl", "c": "clang", "rust": "wasm32", "assemblyscript": "npm install", "wat": "wabt"} {
		if _, err := os.Stat("/usr/bin/rustc"); lang == "rust" && err == nil {
			continue // the script finds it there without PATH
		}
		cmd := exec.Command(moot, "policy", "new", "in-"+lang, "--lang", lang)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + bin, "HOME=" + dir}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, want %q in\n%s", lang, err, want, out)
		}
		cmd = exec.Command(moot, "policy", "build", "in-"+lang)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + bin, "HOME=" + dir}
		out, err = cmd.CombinedOutput()
		if exitCodeOf(err) != "1" || !strings.Contains(string(out), "[POL-TOOLCHAIN]") || !strings.Contains(string(out), want) {
			t.Errorf("%s: built with %v\n%s", lang, err, out)
		}
	}
}
