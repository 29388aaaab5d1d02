package plugins

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

func loadOutside(t testing.TB, h *Host, wasm []byte) (*Policy, error) {
	t.Helper()
	return h.Load(context.Background(), Module{Name: "stranger", Wasm: wasm})
}

func TestOutside(t *testing.T) {
	dir := t.TempDir()
	wasm := w.Answering(`{"action":"decline","reason":"quiet"}`)
	for _, c := range []Config{{CacheDir: dir}, {CacheDir: dir}, {}, {Interpreter: true}} { // cold, warm, without a cache, without a compiler
		h := newHost(t, c)
		p, err := loadOutside(t, h, wasm)
		if err != nil {
			t.Fatal(err)
		}
		d, rec, err := p.Propose(context.Background(), roster)
		if err != nil || d.Reason != "quiet" || rec.Fuel == 0 {
			t.Errorf("%+v %+v %v", d, rec, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".compiling-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if compiled, _ := filepath.Glob(filepath.Join(dir, "wazero-*", "*")); len(compiled) != 1 {
		t.Errorf("compiled: %v; want the one module", compiled)
	}
}

// TestKnownModule: a module that a child of this program prepared before starts
// no child again; one whose compiled code or note is not what it was does.
func TestKnownModule(t *testing.T) {
	if programIdentity() == "" {
		t.Skip("this system does not tell the program that runs from one that took its place")
	}
	dir := t.TempDir()
	m := w.Policy().Finish()
	m.Data(w.AnswerAt, []byte(spoken))
	m.Decide(nil, w.Answer(len(spoken)))
	load := func(want int, why string) {
		t.Helper()
		h := newHost(t, Config{CacheDir: dir})
		p, err := loadOutside(t, h, m.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if r, err := p.Run(context.Background(), []byte("{}")); err != nil || string(r.Output) != spoken {
			t.Errorf("%s: %q %v", why, r.Output, err)
		}
		if h.out.children != want {
			t.Errorf("%s: %d children, want %d", why, h.out.children, want)
		}
	}
	change := func(pattern string, f func(path string, b []byte) error) {
		t.Helper()
		paths, _ := filepath.Glob(filepath.Join(dir, pattern))
		if len(paths) != 1 {
			t.Fatalf("%s: %v", pattern, paths)
		}
		b, err := os.ReadFile(paths[0])
		if err == nil {
			err = f(paths[0], b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	load(1, "cold")
	load(0, "known")
	change("known/*", func(path string, b []byte) error { b[len(b)-1] ^= 1; return os.WriteFile(path, b, 0o600) })
	load(1, "a damaged note")
	load(0, "known again")
	change("known/*", func(path string, _ []byte) error { return os.WriteFile(path, nil, 0o600) })
	load(1, "an empty note")
	change("wazero-*/*", func(path string, _ []byte) error { return os.Remove(path) })
	load(1, "no compiled code")
	change("known/*", func(path string, b []byte) error {
		return os.WriteFile(path, bytes.Replace(b, []byte(`"Sum":"`), []byte(`"Sum":"0`), 1), 0o600)
	})
	load(1, "other code")
}

// TestOutsideReads: a third-party module is never compiled in this process.
// When the child's work has vanished, it is refused.
func TestOutsideNeedsTheCache(t *testing.T) {
	if cached(t.TempDir(), "wazero-x/y") || cached("/", "../etc/passwd") || cached("/", "") {
		t.Error("found what is not there")
	}
}

// TestCompileBomb: a module that takes long to compile ends with the child.
func TestCompileBomb(t *testing.T) {
	fill := cat(w.I32Const(0), w.I32Const(7), w.I32Const(65536), w.Bulk(11, 0))
	m := w.Policy().Finish()
	m.Decide(nil, w.Repeat(20_000, fill), w.I64Const(0)) // 240 kB, 27 s of compiling
	h := newHost(t, Config{CompileTime: time.Second})
	start := time.Now()
	_, err := loadOutside(t, h, m.Bytes())
	e := wantCode(t, err, CodeCompile)
	if !strings.Contains(e.What, "more than 1 s") {
		t.Error(e)
	}
	t.Log(time.Since(start), e)
}

// TestCompileMemory: a module that takes much memory to compile ends with the
// child as well.
func TestCompileMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux bounds the memory of a process so")
	}
	h := newHost(t, Config{})
	module := builtins(t)
	m, err := check("big", module)
	if err != nil {
		t.Fatal(err)
	}
	j := h.job("big", module)
	j.Cache, j.MemoryBytes = t.TempDir(), 64<<20
	_, _, err = runChild(context.Background(), j, module, m)
	if e := wantCode(t, err, CodeCompile); !strings.Contains(e.What, "more than 64 MiB") {
		t.Error(e)
	}
}

// TestCallerOfChildGoes: the child ends when nobody waits for it.
func TestCallerOfChildGoes(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := newHost(t, Config{}).Load(ctx, Module{Name: "x", Wasm: w.Answering(spoken)})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestFuelNeedsAllowance(t *testing.T) {
	h := newHost(t, Config{})
	m := Module{Name: "x", Wasm: w.Answering(`{}`), Limits: Limits{Fuel: DefFuel + 1}}
	_, err := h.Load(context.Background(), m)
	wantCode(t, err, CodeLimits)
	m.AllowFuel = true
	if _, err := h.Load(context.Background(), m); err != nil {
		t.Error(err)
	}
}

func cat(b ...[]byte) []byte {
	var out []byte
	for _, x := range b {
		out = append(out, x...)
	}
	return out
}

// TestChildDoesNothingUnasked: without its variable the program starts as
// always, which this very test shows; with another value too.
func TestChildDoesNothingUnasked(t *testing.T) {
	childStarted("")
	childStarted("0")
	if os.Getenv(childEnv) != "" {
		t.Error("this is the child")
	}
}
