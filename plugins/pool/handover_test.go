package pool

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"github.com/folkmoot/moot/plugins/guest"
	"github.com/folkmoot/moot/plugins/wasm"
	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

// TestInstancesHandedOver: an instance goes to the next decision while the one
// before still returns. Each decision has it alone; the race detector tells.
func TestInstancesHandedOver(t *testing.T) {
	p := load(t, w.Guest{Name: "scribbler", Module: scribbler(10)}, nil, 256)
	q := Query{Input: []byte{9, 0, 0, 0, 1}}
	want, err := p.run(q)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 300 {
				r, err := p.run(q)
				if err != nil || !bytes.Equal(r.Output, want.Output) || r.Fuel != want.Fuel {
					t.Errorf("%v: %q with %d units of fuel; alone %q with %d", err, r.Output, r.Fuel, want.Output, want.Fuel)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestReplaceWhileRunning: compiled code takes the place of interpreted code
// while decisions run. Instances of the old code finish; every decision before
// and after has the same answer and fuel.
func TestReplaceWhileRunning(t *testing.T) {
	if guest.Engine(false) != guest.EngineCompiler {
		t.Skip("wazero has no compiler for this platform")
	}
	g := w.Guest{Name: "scribbler", Module: scribbler(10)}
	var compiled *Code
	p := load(t, g, func(m *wasm.Metered) *Code {
		var err error
		if compiled, err = Compile(context.Background(), openRuntime(t), guest.EngineCompiler, g.Name, m, 1); err != nil {
			t.Fatal(err)
		}
		interpreted, err := Interpret(context.Background(), g.Name, m)
		if err != nil {
			t.Fatal(err)
		}
		return interpreted
	}, 256)
	q := Query{Input: []byte{9, 0, 0, 0, 1}}
	want, err := p.run(q)
	if err != nil || want.Engine != guest.EngineInterpreter {
		t.Fatalf("%v, on the %s", err, want.Engine)
	}
	var warm, wg sync.WaitGroup
	for range 8 {
		warm.Add(1)
		wg.Go(func() {
			after := 0
			for i := 0; after < 100; i++ { // so many on the compiler
				r, err := p.run(q)
				if err != nil || !bytes.Equal(r.Output, want.Output) || r.Fuel != want.Fuel {
					t.Errorf("%v: %q with %d units of fuel on the %s; first %q with %d", err, r.Output, r.Fuel, r.Engine, want.Output, want.Fuel)
					if i <= 20 {
						warm.Done()
					}
					return
				}
				if i == 20 {
					warm.Done()
				}
				if r.Engine == guest.EngineCompiler {
					after++
				}
			}
		})
	}
	warm.Wait()
	if err := p.module.Replace(compiled); err != nil {
		t.Error(err)
	}
	wg.Wait()
}
