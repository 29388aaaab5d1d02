package pool

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/folkmoot/moot/plugins/guest"
	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

// setupFuel returns the fuel that the start of a module takes.
func setupFuel(t *testing.T, module []byte) (uint64, error) {
	t.Helper()
	m, err := guest.Validate("setup", module)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Interpret(context.Background(), "setup", m)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	env := &guest.Env{Initializing: true}
	env.Begin(0, "setup")
	in, err := newInstance(c, m, &memory{maxBytes: MaxBytes(m, guest.MaxMemoryPages)}, env)
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	in.begin(context.Background(), guest.SetupFuel, 0, startStopwatch())
	defer in.preemption.watch.stop()
	err = in.initialize()
	return uint64(guest.SetupFuel - in.left()), err
}

// TestSetupFuel: modules of every language start with a fifth of the fuel that
// they may use for it, and a start that never ends is over with all of it. The
// interpreter runs about ten million units in a second.
func TestSetupFuel(t *testing.T) {
	modules := map[string][]byte{"builtins": w.Builtins(t, "../..")}
	for _, lang := range []string{"c", "rust", "assemblyscript", "wat"} {
		modules[lang] = w.Kit(t, "../..", lang)
	}
	for name, module := range modules {
		used, err := setupFuel(t, module)
		if err != nil || used > guest.SetupFuel/5 {
			t.Errorf("%s: %d units of fuel, %v", name, used, err)
		}
	}
	m := w.Policy().Finish()
	m.Start(m.Func(nil, nil, w.Loop(w.Br(0))))
	m.Decide(nil, w.I64Const(0))
	if used, err := setupFuel(t, m.Bytes()); err == nil || used > guest.SetupFuel+1000 || guest.SetupFuel > 10_000_000 {
		t.Errorf("an endless start took %d of %d units: %v", used, guest.SetupFuel, err)
	}
}

// TestConfigureHasItsOwnFuel: a module that cannot start from a snapshot has
// the same fuel for configure as others.
func TestConfigureHasItsOwnFuel(t *testing.T) {
	m := &w.Module{}
	m.Memory(1, -1)
	m.Export("memory", w.Memory, 0)
	m.Finish()
	m.Table(w.FuncRef, 1, -1)
	count := w.Loop(w.LocalGet(2), w.I32Const(1), w.Op(w.I32Add), w.LocalTee(2), w.I32Const(2_000_000), w.Op(w.I32LtU), w.BrIf(0))
	m.Export("roompolicy_configure", w.Func, m.Locals([]byte{w.I32, w.I32}, []byte{w.I32}, []byte{w.I32},
		count, w.I32Const(0), w.Op(0xd0, w.FuncRef), w.Op(0x26, 0), w.I32Const(1)))
	m.Decide(nil, w.I64Const(0))
	metered, err := guest.Validate("table", m.Bytes())
	if err != nil || metered.Restorable {
		t.Fatalf("%v, starts from a snapshot: %v", err, metered.Restorable)
	}
	for fuel, fails := range map[uint64]bool{guest.DefFuel: false, guest.SetupFuel / 10: true} {
		code, err := Compile(context.Background(), openRuntime(t), guest.Engine(false), "table", metered, Workers())
		if err != nil {
			t.Fatal(err)
		}
		_, err = Configure(NewModule("digest", metered, nil, code), Spec{Name: "table", Pages: 4, Fuel: fuel})
		var e *guest.Error
		if fails != errors.As(err, &e) {
			t.Errorf("%d units of fuel: %v", fuel, err)
		}
		_ = code.Close()
	}
}

// TestSetupNeedsNoHistory: a policy gets no history before its first
// decision, so the error of a set-up without end does not blame it.
func TestSetupNeedsNoHistory(t *testing.T) {
	m := w.Policy().Finish()
	m.Export(guest.ExportConfigure, w.Func, m.Func([]byte{w.I32, w.I32}, []byte{w.I32}, w.Loop(w.Br(0)), w.I32Const(1)))
	m.Decide(nil, w.I64Const(0))
	metered, err := guest.Validate("endless", m.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	code, err := Interpret(context.Background(), "endless", metered)
	if err != nil {
		t.Fatal(err)
	}
	defer code.Close()
	initial, err := code.InitialSnapshot("endless", "digest", metered)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Configure(NewModule("digest", metered, initial, code), Spec{Name: "endless", Pages: 1, Fuel: guest.SetupFuel / 10})
	var e *guest.Error
	if !errors.As(err, &e) || e.Code != guest.CodeInit || !strings.Contains(e.What, "units of fuel") || strings.Contains(e.Fix, "history") {
		t.Errorf("%+v", e)
	}
}
