package compile

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/worker"
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

// TestKeptModule: a module that a worker prepared before starts no other one,
// also for another host. Without its entry it does.
func TestKeptModule(t *testing.T) {
	dir := t.TempDir()
	module := w.Answering("{}")
	load := func(want int, why string) {
		t.Helper()
		c := open(t, Config{CacheDir: dir})
		m, err := c.Untrusted(context.Background(), "third-party", guest.Digest(module), module)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if engine := m.Code().Engine; engine != c.Engine() {
			t.Errorf("%s: runs on the %s", why, engine)
		}
		if c.workers != want {
			t.Errorf("%s: %d workers, want %d", why, c.workers, want)
		}
	}
	load(1, "cold")
	load(0, "kept")
	for _, path := range entryFiles(t, dir) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	load(1, "removed")
}

// TestWorkerMemory: a worker that needs more memory than its limit ends.
func TestWorkerMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux limits the memory of a process in this way")
	}
	module := w.Builtins(t, "../..")
	limits := worker.Limits{CPU: time.Minute, Memory: 64 << 20, File: maxCode}
	_, err := worker.Run(t.Context(), worker.Work{
		Name: workName, Request: worker.AppendFrame(nil, job{Where: "large", Folder: t.TempDir(), Size: len(module)}, module), Limits: limits, MaxReply: maxSnapshot,
	})
	err = workerError(t.Context(), "large", limits, err)
	var e *guest.Error
	if !errors.As(err, &e) || e.Code != guest.CodeCompile || !strings.Contains(e.What, "more than 64 MiB") {
		t.Error(err)
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
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		select {
		case <-m.tier.done:
		default:
			t.Error("a compilation goes on")
		}
	}
}
