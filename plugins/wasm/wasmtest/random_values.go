package wasmtest

import (
	"encoding/binary"
	"math"
)

// constant is a constant instruction, more often than not of an interesting number.
func (g *generator) constant(t byte) []byte {
	n := []uint64{0, 1, ^uint64(0), 1 << 63, 1 << 31, 1<<31 - 1, g.r.Uint64(), g.r.Uint64() >> 50}[g.r.IntN(8)]
	f := []float64{0, math.Copysign(0, -1), 1, -1.5, 1 << 31, -1 << 63, 1e300, math.Inf(1), g.r.NormFloat64(), float64(n)}[g.r.IntN(10)]
	switch t {
	case I32:
		return I32Const(int32(n))
	case I64:
		return I64Const(int64(n))
	case F32:
		return binary.LittleEndian.AppendUint32([]byte{0x43}, math.Float32bits(float32(f)))
	default:
		return binary.LittleEndian.AppendUint64([]byte{0x44}, math.Float64bits(f))
	}
}

// value puts code that leaves a value of type t.
func (g *generator) value(t byte, depth int) {
	if g.size--; g.size < 0 || depth > 12 {
		g.put(g.constant(t))
		return
	}
	switch n := g.r.IntN(30); {
	case n < 4:
		g.put(g.constant(t))
	case n < 9:
		g.variable(t)
	case n < 17:
		g.operator(t, depth)
	case n < 20:
		g.load(t, depth)
	case n < 22:
		g.value(t, depth+1)
		g.value(t, depth+1)
		g.value(I32, depth+1)
		g.put([][]byte{Op(Select), Op(0x1c, 1, t)}[g.r.IntN(2)])
	case n < 25:
		g.enclosed(t, depth)
	case n < 27:
		g.call(t, depth)
	case n < 29:
		g.branch(t, depth)
	default:
		g.vector(t, depth)
	}
}

// variable puts a local or a global of type t, or a constant.
func (g *generator) variable(t byte) {
	from := g.r.IntN(len(g.locals) + len(g.globals))
	for i := range len(g.locals) + len(g.globals) {
		switch at := (from + i) % (len(g.locals) + len(g.globals)); {
		case at < len(g.locals)-2 && g.locals[at] == t:
			g.put(LocalGet(uint32(at)))
			return
		case at >= len(g.locals) && g.globals[at-len(g.locals)] == t:
			g.put(GlobalGet(uint32(at - len(g.locals))))
			return
		}
	}
	g.put(g.constant(t))
}

// An operation takes operands of some types; of a conversion that is one.
type operation struct {
	operands []byte
	code     []byte
}

// operations are those with a result of one type.
var operations = func() map[byte][]operation {
	all := map[byte][]operation{}
	add := func(result byte, operands []byte, from, to byte) {
		for op := int(from); op <= int(to); op++ {
			all[result] = append(all[result], operation{operands, []byte{byte(op)}})
		}
	}
	one, two := func(t byte) []byte { return []byte{t} }, func(t byte) []byte { return []byte{t, t} }
	add(I32, one(I32), 0x45, 0x45)
	add(I32, two(I32), 0x46, 0x4f)
	add(I32, one(I64), 0x50, 0x50)
	add(I32, two(I64), 0x51, 0x5a)
	add(I32, two(F32), 0x5b, 0x60)
	add(I32, two(F64), 0x61, 0x66)
	add(I32, one(I32), 0x67, 0x69)
	add(I32, two(I32), 0x6a, 0x78)
	add(I64, one(I64), 0x79, 0x7b)
	add(I64, two(I64), 0x7c, 0x8a)
	add(F32, one(F32), 0x8b, 0x91)
	add(F32, two(F32), 0x92, copysign32)
	add(F64, one(F64), 0x99, 0x9f)
	add(F64, two(F64), 0xa0, copysign64)
	add(I32, one(I64), 0xa7, 0xa7)
	add(I32, one(F32), 0xa8, 0xa9)
	add(I32, one(F64), 0xaa, 0xab)
	add(I64, one(I32), 0xac, 0xad)
	add(I64, one(F32), 0xae, 0xaf)
	add(I64, one(F64), 0xb0, 0xb1)
	add(F32, one(I32), 0xb2, 0xb3)
	add(F32, one(I64), 0xb4, 0xb5)
	add(F32, one(F64), 0xb6, 0xb6)
	add(F64, one(I32), 0xb7, 0xb8)
	add(F64, one(I64), 0xb9, 0xba)
	add(F64, one(F32), 0xbb, 0xbb)
	add(I32, one(F32), reinterpret32, reinterpret32)
	add(I64, one(F64), reinterpret64, reinterpret64)
	add(F32, one(I32), 0xbe, 0xbe)
	add(F64, one(I64), 0xbf, 0xbf)
	add(I32, one(I32), 0xc0, 0xc1)
	add(I64, one(I64), 0xc2, 0xc4)
	for sub := range byte(8) { // trunc_sat
		all[I32-sub/4] = append(all[I32-sub/4], operation{one(F32 - sub/2%2), []byte{0xfc, sub}})
	}
	return all
}()

// truncations are the saturating forms of conversions that trap.
var truncations = map[byte]byte{0xa8: 0, 0xa9: 1, 0xaa: 2, 0xab: 3, 0xae: 4, 0xaf: 5, 0xb0: 6, 0xb1: 7}

// Operations that show the bits of a NaN.
const (
	copysign32    = 0x98
	copysign64    = 0xa6
	reinterpret32 = 0xbc
	reinterpret64 = 0xbd
)

func (g *generator) operator(t byte, depth int) {
	o := operations[t][g.r.IntN(len(operations[t]))]
	for _, operand := range o.operands {
		g.value(operand, depth+1)
	}
	often := g.r.IntN(8) > 0 // it does not trap
	switch op := o.code[0]; {
	case op == copysign32, op == reinterpret32:
		g.canonical(F32)
	case op == copysign64, op == reinterpret64:
		g.canonical(F64)
	case op >= 0x6d && op <= 0x70 && often: // division
		g.put(I32Const(0x7fffffff), Op(I32And), I32Const(1), Op(I32Or))
	case op >= 0x7f && op <= 0x82 && often:
		g.put(I64Const(1), Op(I64Or), I64Const(1), Op(0x88)) // shr_u
		g.put(I64Const(1), Op(I64Or))
	case op >= 0xa8 && op <= 0xb1 && op != 0xac && op != 0xad && often: // truncation
		o.code = []byte{0xfc, truncations[op]}
	}
	g.put(o.code)
}

// canonical replaces a NaN by one whose bits are known.
func (g *generator) canonical(t byte) {
	switch last := uint32(len(g.locals) - 1); t {
	case F32:
		g.put(LocalTee(last-1), Op(0x43, 0, 0, 0xc0, 0x7f), LocalGet(last-1), LocalGet(last-1), Op(0x5b, Select))
	case F64:
		g.put(LocalTee(last), Op(0x44, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f), LocalGet(last), LocalGet(last), Op(0x61, Select))
	}
}

// vector puts a value that went through a vector instruction of floats or
// integers.
func (g *generator) vector(t byte, depth int) {
	type lanes struct {
		splat, extract uint32
		ops            []uint32
	}
	v := map[byte]lanes{
		I32: {17, 27, []uint32{174, 177, 181, 78, 80}},
		I64: {18, 29, []uint32{206, 209, 213, 81}},
		F32: {19, 31, []uint32{228, 229, 230, 231, 232, 233}},
		F64: {20, 33, []uint32{240, 241, 242, 243, 244, 245}},
	}[t]
	simd := func(sub uint32) []byte { return append([]byte{0xfd}, U32(sub)...) }
	for range 2 {
		g.value(t, depth+1)
		g.put(simd(v.splat))
	}
	g.put(simd(v.ops[g.r.IntN(len(v.ops))]), simd(v.extract), Op(0))
}
