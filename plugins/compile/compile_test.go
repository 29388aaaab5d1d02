package compile

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

	"github.com/folkmoot/moot/plugins/guest"
	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

func open(t *testing.T, c Config) *Compiler {
	t.Helper()
	p, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// TestRecordedModule: a module that a child of this program prepared before
// starts no other child. A changed record, or changed code, starts one.
func TestRecordedModule(t *testing.T) {
	if programIdentity() == "" {
		t.Skip("this system does not tell the program that runs from one that took its place")
	}
	dir := t.TempDir()
	module := w.Answering("{}")
	load := func(want int, why string) {
		t.Helper()
		c := open(t, Config{CacheDir: dir})
		m, err := c.Untrusted(context.Background(), "third-party", guest.Digest(module), module)
		if err != nil {
			t.Fatal(err)
		}
		if engine := m.Code().Engine; engine != c.Engine() {
			t.Errorf("%s: runs on the %s", why, engine)
		}
		if c.children != want {
			t.Errorf("%s: %d children, want %d", why, c.children, want)
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
	load(0, "recorded")
	change("known/*", func(path string, b []byte) error { b[len(b)-1] ^= 1; return os.WriteFile(path, b, 0o600) })
	load(1, "a damaged record")
	load(0, "recorded again")
	change("known/*", func(path string, _ []byte) error { return os.WriteFile(path, nil, 0o600) })
	load(1, "an empty record")
	change("wazero-*/*", func(path string, _ []byte) error { return os.Remove(path) })
	load(1, "no compiled code")
	change("known/*", func(path string, b []byte) error {
		return os.WriteFile(path, bytes.Replace(b, []byte(`"Sum":"`), []byte(`"Sum":"0`), 1), 0o600)
	})
	load(1, "other code")
}

// TestHasEntry: paths that leave the cache, or name no file, are not entries.
func TestHasEntry(t *testing.T) {
	if hasEntry(t.TempDir(), "wazero-x/y") || hasEntry("/", "../etc/passwd") || hasEntry("/", "") {
		t.Error("found an entry")
	}
}

// TestChildMemory: a child that needs more memory than its limit ends.
func TestChildMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux limits the memory of a process in this way")
	}
	module := w.Builtins(t, "../..")
	m, err := guest.Validate("large", module)
	if err != nil {
		t.Fatal(err)
	}
	j := open(t, Config{}).newJob("large", module)
	j.Cache, j.MemoryBytes = t.TempDir(), 64<<20
	_, _, err = runChild(context.Background(), j, module, m)
	var e *guest.Error
	if !errors.As(err, &e) || e.Code != guest.CodeCompile || !strings.Contains(e.What, "more than 64 MiB") {
		t.Error(err)
	}
}

// TestChildNeedsVariable: without its variable, or with another value, the
// program starts as usual.
func TestChildNeedsVariable(t *testing.T) {
	runAsChild("")
	runAsChild("0")
	if os.Getenv(childEnv) != "" {
		t.Error("this is the child")
	}
}

// TestTiers: a module runs on the interpreter until it is compiled. The next
// start finds the compiled code.
func TestTiers(t *testing.T) {
	if guest.Engine(false) != guest.EngineCompiler {
		t.Skip("wazero has no compiler for this platform")
	}
	for _, dir := range []string{"", t.TempDir()} {
		module := w.Answering("{}")
		c := open(t, Config{CacheDir: dir, Tiered: true})
		m, err := c.Trusted(context.Background(), "tiered", guest.Digest(module), module)
		if err != nil {
			t.Fatal(err)
		}
		if engine := m.Code().Engine; engine != guest.EngineInterpreter {
			t.Fatalf("starts on the %s", engine)
		}
		m.Ran(guest.EngineInterpreter, time.Microsecond)
		m.Ran(guest.EngineCompiler, time.Hour)
		if engine := m.Code().Engine; engine != guest.EngineInterpreter {
			t.Fatalf("after a microsecond it runs on the %s", engine)
		}
		m.Ran(guest.EngineInterpreter, maxInterpreted)
		<-m.tier.done
		if engine := m.Code().Engine; engine != guest.EngineCompiler {
			t.Fatalf("it stays on the %s", engine)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if dir == "" {
			continue
		}
		again, err := open(t, Config{CacheDir: dir, Tiered: true}).Trusted(context.Background(), "tiered", guest.Digest(module), module)
		if err != nil || again.tier != nil {
			t.Errorf("the next start interprets: %v", err)
		}
	}
}

// TestTierEnds: closing a module ends its compilation, pending or running.
func TestTierEnds(t *testing.T) {
	if guest.Engine(false) != guest.EngineCompiler {
		t.Skip("wazero has no compiler for this platform")
	}
	module := w.Builtins(t, "../..")
	for _, ran := range []time.Duration{0, time.Microsecond, maxInterpreted} {
		m, err := open(t, Config{Tiered: true}).Trusted(context.Background(), "tiered", guest.Digest(module), module)
		if err != nil {
			t.Fatal(err)
		}
		if ran > 0 {
			m.Ran(guest.EngineInterpreter, ran)
		}
		start := time.Now()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("closing took %v", took)
		}
	}
}

// FuzzReadFrame: no frame, from a child or to it, is read beyond its limits.
func FuzzReadFrame(f *testing.F) {
	f.Add(appendFrame(nil, report{Image: 3}, []byte("abc")))
	f.Add(appendFrame(nil, report{Code: guest.CodeTrap, What: "x"}, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r report
		body, err := readFrame(bytes.NewReader(b), &r, func() int { return r.Image }, 1<<10)
		if err == nil && (len(body) != r.Image || len(body) > 1<<10) {
			t.Errorf("%d bytes for %d", len(body), r.Image)
		}
	})
}
