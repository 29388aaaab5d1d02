package plugins

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

func loadUntrusted(t testing.TB, h *Host, wasm []byte) (*Policy, error) {
	t.Helper()
	return h.Load(context.Background(), Module{Name: "third-party", Wasm: wasm})
}

// TestUntrusted: a third-party module runs with a cold cache, a warm cache, no
// cache, and on the interpreter.
func TestUntrusted(t *testing.T) {
	dir := t.TempDir()
	wasm := w.Answering(`{"action":"decline","reason":"quiet"}`)
	for _, c := range []Config{{CacheDir: dir}, {CacheDir: dir}, {}, {Interpreter: true}} { // cold, warm, without a cache, without a compiler
		h := newHost(t, c)
		p, err := loadUntrusted(t, h, wasm)
		if err != nil {
			t.Fatal(err)
		}
		d, rec, err := p.Propose(context.Background(), roster)
		if err != nil || d.Reason != "quiet" || rec.Fuel == 0 {
			t.Errorf("%+v %+v %v", d, rec, err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("the cache holds %v, %v; want the one module", files, err)
	}
}

// TestCompileBomb: a module that takes too long to compile is refused.
func TestCompileBomb(t *testing.T) {
	fill := cat(w.I32Const(0), w.I32Const(7), w.I32Const(65536), w.Bulk(11, 0))
	m := w.Policy().Finish()
	m.Decide(nil, w.Repeat(20_000, fill), w.I64Const(0)) // 240 kB; compiling takes 27 s
	h := newHost(t, Config{CompileTime: time.Second})
	start := time.Now()
	_, err := loadUntrusted(t, h, m.Bytes())
	e := wantCode(t, err, CodeCompile)
	if !strings.Contains(e.What, "more than 1 s") {
		t.Error(e)
	}
	t.Log(time.Since(start), e)
}

// TestCallerOfChildGone: the child ends when its caller is gone.
func TestCallerOfChildGone(t *testing.T) {
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
