package wasm

import (
	"context"
	"strings"
	"testing"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
	"github.com/tetratelabs/wazero"
)

// FuzzMeter: no input makes Meter panic, nothing that the engine refuses
// becomes something that it accepts, and nothing that it accepts is broken.
func FuzzMeter(f *testing.F) {
	f.Add([]byte(w.Header))
	f.Add(w.Answering(`{"action":"decline","reason":"x"}`))
	m := oneFunc([]byte{w.F64, w.I32}, w.Loop(w.LocalGet(0), w.LocalGet(0), w.Op(0xa0), w.LocalSet(0), w.LocalGet(1), w.BrIf(0)),
		w.Block(w.I32Const(1), w.BrTable(0, 0)), w.I32Const(0), w.I32Const(0), w.I32Const(9), w.Bulk(11, 0),
		w.I32Const(1), w.MemoryGrow(), w.Op(w.Drop), w.I32Const(0), w.CallIndirect(0, 0))
	m.Table(w.FuncRef, 1, -1)
	m.Elem(0, 0)
	m.Global(w.I64, true, w.I64Const(3))
	m.Data(0, []byte("data"))
	m.Custom("name", []byte{0, 1, 0})
	f.Add(m.Bytes())
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithMemoryLimitPages(1024).WithDebugInfoEnabled(false))
	f.Cleanup(func() { _ = r.Close(ctx) })
	f.Fuzz(func(t *testing.T, b []byte) {
		metered, err := Meter(b, Default, budget)
		if err != nil {
			return
		}
		plain, e1 := r.CompileModule(ctx, b)
		ours, e2 := r.CompileModule(ctx, metered.Whole)
		// Meter leaves the names for debugging out, and with them their faults.
		names := e1 != nil && strings.HasPrefix(e1.Error(), "section custom")
		if (e1 == nil) != (e2 == nil) && !names {
			t.Errorf("%v, rewritten %v", e1, e2)
		}
		if e1 == nil {
			_ = plain.Close(ctx)
		}
		if e2 == nil {
			_ = ours.Close(ctx)
		}
	})
}
