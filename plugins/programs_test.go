package plugins

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// buildProgram builds a program of testdata.
func buildProgram(t *testing.T, name string, guest bool) string {
	t.Helper()
	if testing.Short() {
		t.Skip("building a program takes seconds")
	}
	out := filepath.Join(t.TempDir(), name)
	args := []string{"build", "-o", out}
	env := os.Environ()
	if guest {
		args = append(args, "-buildmode=c-shared", "-ldflags=-s -w")
		env = append(env, "GOOS=wasip1", "GOARCH=wasm")
	}
	cmd := exec.Command("go", append(args, "./testdata/programs/"+name)...)
	cmd.Env = env
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", name, err, b)
	}
	return out
}

// TestEmbeddingProgram: a program that links this package and nothing else
// loads a stranger's module, which a child of its own compiles.
func TestEmbeddingProgram(t *testing.T) {
	exe := buildProgram(t, "embed", false)
	hostile := func(name string) string { return filepath.Join("testdata", "hostile", name+".wasm") }
	input := filepath.Join("testdata", "case.json")
	out, err := exec.Command(exe, hostile("simd"), input).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != spoken {
		t.Errorf("%v: %s", err, out)
	}
	out, err = exec.Command(exe, hostile("infinite-loop"), input).CombinedOutput()
	if err == nil || !strings.Contains(string(out), CodeFuel) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestStandardLibrary: a policy that uses Go's standard library as it comes
// runs, sees only what its input says, and answers the same every time.
func TestStandardLibrary(t *testing.T) {
	b, err := os.ReadFile(buildProgram(t, "standard", true))
	if err != nil {
		t.Fatal(err)
	}
	h := newHost(t, Config{CacheDir: cacheDir(t), AuditEvery: 2})
	p, err := h.Load(context.Background(), Module{Name: "standard", Wasm: b})
	if err != nil {
		t.Fatal(err)
	}
	var first Result
	for i := range 5 {
		r, err := p.Run(context.Background(), []byte(`{"room":"r","now_ms":184000,"seed":"9f","turn":1}`))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = r
		}
		if !bytes.Equal(r.Output, first.Output) || r.Log != first.Log || r.Fuel != first.Fuel {
			t.Errorf("%s, then %s", first.Output, r.Output)
		}
	}
	// The variables are those of initEnviron, which it saw when it was set up.
	if s := string(first.Output); !strings.Contains(s, "now 184000, slept 10s, 0 arguments, 2 variables") {
		t.Error(s)
	}
	if first.Log != "said on standard output\nand on standard error\n" {
		t.Errorf("%q", first.Log)
	}
	r, err := p.Run(context.Background(), []byte(`{"turn":99}`))
	e := wantCode(t, err, CodeTrap)
	if !strings.Contains(e.What, "panic: turn 99") || !strings.Contains(r.Log, "goroutine 1") {
		t.Errorf("%v\n%s", e, r.Log)
	}
}

// TestFilesAreRefused: what opens files is refused by the name of the import.
func TestFilesAreRefused(t *testing.T) {
	b, err := os.ReadFile(buildProgram(t, "files", true))
	if err != nil {
		t.Fatal(err)
	}
	_, err = newHost(t, Config{}).Load(context.Background(), Module{Name: "files", Wasm: b})
	if e := wantCode(t, err, CodeImports); !strings.Contains(e.What, "fd_") && !strings.Contains(e.What, "path_") {
		t.Error(e)
	}
}
