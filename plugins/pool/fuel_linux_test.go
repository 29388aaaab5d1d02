package pool

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/folkmoot/moot/plugins/guest"
	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

// BenchmarkFuel measures the most that the fuel of a decision can cost:
// milliseconds of the processor for 50 million units, by kind of instruction.
func BenchmarkFuel(b *testing.B) {
	keep := func(ops ...[]byte) []byte { return slices.Concat(slices.Concat(ops...), w.LocalSet(3)) } // into the i64
	get := w.LocalGet(3)
	for _, k := range []struct {
		name string
		code []byte
	}{
		{"nothing", nil},
		{"add", w.Repeat(20, keep(get, w.I64Const(3), w.Op(w.I64Add)))},
		{"multiply", w.Repeat(20, keep(get, w.I64Const(3), w.Op(w.I64Mul)))},
		{"divide", w.Repeat(20, keep(w.I64Const(-1), get, w.I64Const(1), w.Op(w.I64Or), w.Op(w.I64DivU)))},
		{"root", w.Repeat(20, keep(get, w.Op(0xba), w.Op(0x9f, 0xbd)))}, // convert, sqrt, reinterpret
		{"float-divide", w.Repeat(20, keep(get, w.Op(0xbf), w.Op(0x44, 1, 0, 0, 0, 0, 0, 0xf8, 0x3f), w.Op(0xa3, 0xbd)))},
		{"nearest", w.Repeat(20, keep(get, w.Op(0xbf, 0x9e, 0xbd)))},
		{"truncate", w.Repeat(20, keep(get, w.Op(0xbf), []byte{0xfc, 6}))},
		{"popcount", w.Repeat(20, keep(get, w.Op(0x7b)))},
		{"load-store", w.Repeat(20, w.I32Const(8), get, w.Mem(0x37, 3, 0), keep(w.I32Const(8), w.Mem(0x29, 3, 0)))},
		{"call", w.Repeat(20, w.Call(3))},
		{"call-indirect", w.Repeat(20, w.I32Const(0), w.CallIndirect(1, 0))},
		{"import", w.Repeat(20, w.Call(0), w.Op(w.Drop))},
		{"memory-size", w.Repeat(20, w.MemorySize(), w.Op(w.Drop))},
		{"grow-nothing", w.Repeat(20, w.I32Const(0), w.MemoryGrow(), w.Op(w.Drop))},
		{"grow-refused", w.Repeat(20, w.I32Const(9999), w.MemoryGrow(), w.Op(w.Drop))},
		{"fill-nothing", w.Repeat(20, w.I32Const(0), w.I32Const(0), w.I32Const(0), w.Bulk(11, 0))},
		{"fill-64", w.Repeat(20, w.I32Const(0), w.I32Const(0), w.I32Const(64), w.Bulk(11, 0))},
		{"fill-4096", w.Repeat(20, w.I32Const(0), w.I32Const(0), w.I32Const(4096), w.Bulk(11, 0))},
		{"fill-16MiB", slices.Concat(w.I32Const(0), w.I32Const(0), w.I32Const(16<<20), w.Bulk(11, 0))},
		{"copy-4096", w.Repeat(20, w.I32Const(0), w.I32Const(9000), w.I32Const(4096), w.Bulk(10, 0, 0))},
		{"copy-8MiB", slices.Concat(w.I32Const(0), w.I32Const(8<<20), w.I32Const(8<<20), w.Bulk(10, 0, 0))},
		{"table-fill", slices.Concat(w.I32Const(0), w.Op(0xd0, w.FuncRef), w.I32Const(1000), w.Bulk(17, 0))},
		{"table-get", w.Repeat(20, w.I32Const(5), w.Op(0x25, 0), w.Op(w.Drop))},
		{"br-table", w.Repeat(20, w.Block(get, w.Op(0xa7), w.BrTable(0, 0, 0, 0)))},
		{"globals", w.Repeat(20, w.GlobalGet(0), w.I64Const(1), w.Op(w.I64Add), w.GlobalSet(0))},
		{"simd-root", slices.Concat(w.LocalGet(3), []byte{0xfd, 18}, w.Repeat(20, []byte{0xfd, 0xef, 1}), []byte{0xfd, 29, 0}, w.LocalSet(3))},
		{"simd-divide", slices.Concat(w.LocalGet(3), []byte{0xfd, 18}, w.Repeat(20, w.LocalGet(3), []byte{0xfd, 18, 0xfd, 0xf3, 1}), []byte{0xfd, 29, 0}, w.LocalSet(3))},
	} {
		b.Run(k.name, func(b *testing.B) { burn(b, spender(k.code)) })
	}
	chase, err := os.ReadFile("../testdata/hostile/chase-16MiB.wasm")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("chase-16MiB", func(b *testing.B) { burn(b, chase) })
}

// spender repeats code until the fuel is used up.
func spender(code []byte) []byte {
	m := &w.Module{}
	m.Memory(256, -1)
	m.Export("memory", w.Memory, 0)
	m.Import("wasi_snapshot_preview1", "sched_yield", nil, []byte{w.I32})
	m.Finish()
	m.Func(nil, nil) // 3
	m.Table(w.FuncRef, 1000, -1)
	m.Elem(0, 3)
	m.Global(w.I64, true, w.I64Const(1))
	m.Decide([]byte{w.I32, w.I64}, w.Loop(code, w.Br(0)), w.I64Const(0))
	return m.Bytes()
}

func burn(b *testing.B, module []byte) {
	p := load(b, w.Guest{Name: "spender", Module: module}, nil, guest.DefMemoryPages)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var spent, fuel int64
	for b.Loop() {
		start := int64(threadClock())
		r, err := p.run(Query{Input: []byte("{}")})
		spent += int64(threadClock()) - start
		fuel += int64(r.Fuel)
		var e *guest.Error
		if !errors.As(err, &e) || e.Code != guest.CodeFuel {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(spent)/float64(fuel)*guest.DefFuel/1e6, "ms/50M")
	b.ReportMetric(0, "ns/op")
}
