package wasm

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/tetratelabs/wazero"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

// A maskedOrder is a function that branches on the order of zero and x & y, and
// returns whether it branched.
type maskedOrder struct {
	code     byte // of the comparison for i32
	wide     bool // the one for i64, whose code is 11 more
	zeroLeft bool
	body     []byte
}

// maskedOrders are all comparisons of integers, in front of an if and of a
// br_if, with a constant and with a local that was never set, and by way of a
// local.
func maskedOrders() (all []maskedOrder) {
	for code := byte(0x46); code <= 0x4f; code++ {
		for _, wide := range []bool{false, true} {
			and, zero, compare := w.Op(opI32And), w.I32Const(0), w.Op(code)
			if wide {
				and, zero, compare = w.Op(opI64And), w.I64Const(0), w.Op(code+opI64LtS-opI32LtS)
			}
			masked := cat(w.LocalGet(0), w.LocalGet(1), and)
			for i, condition := range [][]byte{
				cat(masked, zero, compare),
				cat(zero, masked, compare),
				cat(w.LocalGet(2), masked, compare),
				cat(zero, masked, compare, w.LocalTee(3)),
				cat(masked, w.LocalSet(2), zero, w.LocalGet(2), compare),
			} {
				for _, body := range [][]byte{
					cat(condition, w.Op(opIf, w.I32), w.I32Const(1), w.Op(opElse), w.I32Const(0), w.Op(w.End)),
					cat(w.Block(condition, w.BrIf(0), w.I32Const(0), w.Op(opReturn)), w.I32Const(1)),
				} {
					all = append(all, maskedOrder{code, wide, i > 0, body})
				}
			}
		}
	}
	return all
}

// want returns whether the function branches for a masked value.
func (o maskedOrder) want(v uint64) bool {
	signed, unsigned := cmp.Compare(int64(v), 0), cmp.Compare(v, 0)
	if !o.wide {
		signed, unsigned = cmp.Compare(int32(v), 0), cmp.Compare(uint32(v), 0)
	}
	if o.zeroLeft {
		signed, unsigned = -signed, -unsigned
	}
	return []bool{
		signed == 0, signed != 0, signed < 0, unsigned < 0, signed > 0, unsigned > 0, signed <= 0, unsigned <= 0, signed >= 0, unsigned >= 0,
	}[o.code-0x46]
}

// TestOrderOfMaskedValue: a branch on the order of zero and x & y goes the right
// way on both engines. Without the rewriter it goes the wrong way on wazero's
// compiler: Go's `if x&y > 0` can become such a branch.
func TestOrderOfMaskedValue(t *testing.T) {
	functions := maskedOrders()
	m := &w.Module{}
	for i, f := range functions {
		typ := byte(w.I32)
		if f.wide {
			typ = w.I64
		}
		m.Export(fmt.Sprint("f", i), w.Func, m.Locals([]byte{typ, typ}, []byte{w.I32}, []byte{typ, w.I32}, f.body))
	}
	metered, err := Meter(m.Bytes(), Default, Budget{Fuel: math.MaxInt64, Depth: math.MaxInt32})
	if err != nil {
		t.Fatal(err)
	}
	r := newRandomRun(t)
	defer r.close()
	for engine, runtime := range r.engines {
		m, err := runtime.InstantiateWithConfig(context.Background(), metered.Whole, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range functions {
			for _, v := range []uint64{0, 4, math.MaxUint64} {
				mask := uint64(math.MaxUint64)
				if !f.wide {
					v, mask = uint64(uint32(v)), math.MaxUint32
				}
				got, err := m.ExportedFunction(fmt.Sprint("f", i)).Call(context.Background(), v, mask)
				if err != nil {
					t.Fatal(err)
				}
				if branched := uint32(got[0]) == 1; branched != f.want(v) {
					t.Errorf("engine %d, %#x of zero and %#x, i64 is %v, zero left is %v: branched is %v", engine, f.code, v, f.wide, f.zeroLeft, branched)
				}
			}
		}
	}
}
