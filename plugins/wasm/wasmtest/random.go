package wasmtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Random returns a valid module that is random by r, with control flow, locals,
// globals, memory, a table, calls, numbers of all types, vectors and blocks of
// several values. It exports its functions as f0, f1, ..., its mutable globals as
// g0, g1, ..., and its memory as memory. Every call ends: functions and loops
// count down the global g0, and trap at zero. The bits of a NaN, which
// WebAssembly leaves open, are never observed.
func Random(r *rand.Rand) []byte {
	g := &generator{r: r, m: &Module{}}
	g.m.Memory(1, int64(1+r.IntN(4)))
	g.m.Export("memory", Memory, 0)
	g.global(I32, I32Const(int32(500+r.IntN(1000))))
	for range r.IntN(6) {
		t := g.valueType()
		g.global(t, g.constant(t))
	}
	for range 1 + r.IntN(6) {
		g.funcs = append(g.funcs, FuncType{g.types(4), g.types(3)})
	}
	g.tables()
	for i, f := range g.funcs {
		g.self = i
		g.m.Export(fmt.Sprint("f", i), Func, g.function(f))
	}
	for range g.datas {
		b := make([]byte, r.IntN(100))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		g.m.Passive(b)
	}
	return g.m.Bytes()
}

// A FuncType is the type of a function.
type FuncType struct{ Params, Results []byte }

// A generator makes one random module.
type generator struct {
	r       *rand.Rand
	m       *Module
	funcs   []FuncType
	globals []byte // types
	table   int32  // elements
	datas   int    // passive segments
	elems   int    // passive segments, behind the active one

	// The function under construction. Its last two locals are of f32 and f64, for
	// canonical NaNs.
	self   int // its number
	code   []byte
	locals []byte
	labels [][]byte // types of the values that a branch takes, innermost last
	size   int      // instructions that it may still have
}

func (g *generator) global(t byte, init []byte) {
	g.m.Export(fmt.Sprint("g", len(g.globals)), Global, g.m.Global(t, true, init))
	g.globals = append(g.globals, t)
}

// tables adds a table of functions and segments for it and for the memory.
func (g *generator) tables() {
	all := make([]uint32, len(g.funcs))
	for i := range all {
		all[i] = uint32(i)
	}
	g.table = int32(len(all) + g.r.IntN(3)) // some elements are null
	g.m.Table(FuncRef, uint32(g.table), -1)
	g.m.Elem(0, all...)
	g.elems, g.datas = g.r.IntN(2), g.r.IntN(3)
	for range g.elems {
		g.m.ElemRaw(slices.Concat([]byte{1, 0}, U32(1), U32(uint32(g.r.IntN(len(all)))))...)
	}
}

func (g *generator) valueType() byte { return byte(F64 + g.r.IntN(4)) }

func (g *generator) types(n int) []byte {
	ts := make([]byte, g.r.IntN(n+1))
	for i := range ts {
		ts[i] = g.valueType()
	}
	return ts
}

func (g *generator) function(f FuncType) uint32 {
	own := append(g.types(5), F32, F64)
	g.code, g.locals, g.labels, g.size = nil, append(slices.Clone(f.Params), own...), [][]byte{f.Results}, 10+g.r.IntN(110)
	g.countDown()
	g.body(f.Results, 0)
	return g.m.Locals(f.Params, f.Results, own, g.code)
}

func (g *generator) put(code ...[]byte) { g.code = append(g.code, slices.Concat(code...)...) }

// countDown traps when the module has run for long enough.
func (g *generator) countDown() {
	g.put(GlobalGet(0), Op(I32Eqz), If(Op(Unreachable)), GlobalGet(0), I32Const(1), Op(I32Sub), GlobalSet(0))
}

// body puts statements and then values of these types.
func (g *generator) body(results []byte, depth int) {
	for range g.r.IntN(6) {
		g.statement(depth + 1)
	}
	for _, t := range results {
		g.value(t, depth+1)
	}
}

// address puts an address, mostly of the first page.
func (g *generator) address(depth int) {
	g.value(I32, depth+1)
	if g.r.IntN(20) > 0 {
		g.put(I32Const(0x7fff), Op(I32And))
	}
}

func (g *generator) load(t byte, depth int) {
	ops := map[byte][]byte{I32: {0x28, 0x2c, 0x2d, 0x2e, 0x2f}, I64: {0x29, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35}, F32: {0x2a}, F64: {0x2b}}[t]
	g.address(depth)
	g.put(Mem(ops[g.r.IntN(len(ops))], 0, uint32(g.r.IntN(100))))
}

// enclosed puts a value of type t, with others next to it, out of a block, a loop
// or an if.
func (g *generator) enclosed(t byte, depth int) {
	params, results := g.types(2), append([]byte{t}, g.types(1)...)
	for _, p := range params {
		g.value(p, depth+1)
	}
	typ := U32(g.m.Type(params, results))
	kind := byte(0x02 + g.r.IntN(3))
	label := results
	if kind == 0x03 {
		label = params
	}
	if kind == 0x04 {
		g.value(I32, depth+1)
	}
	g.put([]byte{kind}, typ)
	g.labels = append(g.labels, label)
	for arm := range 2 {
		if arm == 1 && kind != 0x04 {
			break
		}
		if arm == 1 {
			g.put(Op(Else))
		}
		if kind == 0x03 {
			g.countDown()
		}
		for range params {
			g.put(Op(Drop))
		}
		g.body(results, depth+1)
	}
	g.labels = g.labels[:len(g.labels)-1]
	g.put(Op(End))
	for range results[1:] {
		g.put(Op(Drop))
	}
}

// call puts a call of a function whose first result has type t, or a value.
func (g *generator) call(t byte, depth int) {
	f := g.r.IntN(len(g.funcs))
	if g.r.IntN(8) > 0 { // seldom a recursion
		if f = g.self + 1 + g.r.IntN(3); f >= len(g.funcs) {
			g.value(t, depth+1)
			return
		}
	}
	typ := g.funcs[f]
	for _, p := range typ.Params {
		g.value(p, depth+1)
	}
	switch g.r.IntN(8) {
	case 0: // any element, or none
		g.value(I32, depth+1)
		g.put(I32Const(g.table+1), Op(I32RemU), CallIndirect(g.m.Type(typ.Params, typ.Results), 0))
	case 1, 2, 3:
		g.put(I32Const(int32(f)), CallIndirect(g.m.Type(typ.Params, typ.Results), 0))
	default:
		g.put(Call(uint32(f)))
	}
	for i := len(typ.Results) - 1; i > 0; i-- {
		g.put(Op(Drop))
	}
	switch {
	case len(typ.Results) == 0:
		g.value(t, depth+1)
	case typ.Results[0] != t:
		g.put(Op(Drop))
		g.value(t, depth+1)
	}
}

// branch puts a branch that is seldom taken, and a value of type t.
func (g *generator) branch(t byte, depth int) {
	label := g.r.IntN(len(g.labels))
	values := g.labels[len(g.labels)-1-label]
	switch g.r.IntN(5) {
	case 0: // what follows is not reached, and still has to be valid
		g.value(I32, depth+1)
		g.put(Op(0x04, t))
		g.labels = append(g.labels, []byte{t})
		g.jump(label+1, values, depth)
		g.value(t, depth+1)
		g.put(Op(Else))
		g.value(t, depth+1)
		g.put(Op(End))
		g.labels = g.labels[:len(g.labels)-1]
	default:
		for _, v := range values {
			g.value(v, depth+1)
		}
		g.value(I32, depth+1)
		g.put(BrIf(uint32(label)))
		for range values {
			g.put(Op(Drop))
		}
		g.value(t, depth+1)
	}
}

// jump puts a branch, a return, or a branch to one of several labels.
func (g *generator) jump(label int, values []byte, depth int) {
	if g.r.IntN(4) == 0 {
		values = g.labels[0]
		for _, v := range values {
			g.value(v, depth+1)
		}
		g.put(Op(Return))
		return
	}
	for _, v := range values {
		g.value(v, depth+1)
	}
	targets := []uint32{uint32(label)}
	for i := range g.labels {
		if at := len(g.labels) - 1 - i; slices.Equal(g.labels[i], values) {
			targets = append(targets, uint32(at))
		}
	}
	if g.r.IntN(2) == 0 {
		g.put(Br(uint32(label)))
		return
	}
	g.value(I32, depth+1)
	g.put(BrTable(targets...))
}

// statement puts code that leaves nothing.
func (g *generator) statement(depth int) {
	if g.size--; g.size < 0 || depth > 12 {
		return
	}
	switch n := g.r.IntN(20); {
	case n < 6:
		at := g.r.IntN(len(g.locals) - 1)
		if at == len(g.locals)-2 {
			g.put(Op(Nop))
			return
		}
		g.value(g.locals[at], depth+1)
		g.put(LocalSet(uint32(at)))
	case n < 9 && len(g.globals) > 1:
		at := 1 + g.r.IntN(len(g.globals)-1)
		g.value(g.globals[at], depth+1)
		g.put(GlobalSet(uint32(at)))
	case n < 14:
		g.store(depth)
	case n < 16:
		g.bulk(depth)
	default:
		g.value(g.valueType(), depth+1)
		g.put(Op(Drop))
	}
}

func (g *generator) store(depth int) {
	t := g.valueType()
	ops := map[byte][]byte{I32: {0x36, 0x3a, 0x3b}, I64: {0x37, 0x3c, 0x3d, 0x3e}, F32: {0x38}, F64: {0x39}}[t]
	g.address(depth)
	g.value(t, depth+1)
	g.canonical(t)
	g.put(Mem(ops[g.r.IntN(len(ops))], 0, uint32(g.r.IntN(100))))
}

// bulk puts an instruction that works on many bytes or elements, or on the size
// of the memory.
func (g *generator) bulk(depth int) {
	few := func(n int32) { // a small number
		g.value(I32, depth+1)
		g.put(I32Const(n), Op(I32RemU))
	}
	switch n := g.r.IntN(9); {
	case n == 0:
		g.put(MemorySize(), Op(Drop))
	case n == 1:
		few(3)
		g.put(MemoryGrow(), Op(Drop))
	case n == 2:
		g.address(depth)
		g.value(I32, depth+1)
		few(1000)
		g.put(Bulk(11, 0))
	case n == 3:
		g.address(depth)
		g.address(depth)
		few(1000)
		g.put(Bulk(10, 0, 0))
	case n == 4 && g.datas > 0:
		g.address(depth)
		few(50)
		few(50)
		g.put(Bulk(8, byte(g.r.IntN(g.datas)), 0))
	case n == 5 && g.datas > 0:
		g.put(Bulk(9, byte(g.r.IntN(g.datas))))
	case n == 6:
		few(g.table)
		few(g.table)
		few(2)
		g.put(Bulk(14, 0, 0))
	case n == 7 && g.elems > 0:
		few(g.table)
		g.put(I32Const(0))
		few(2)
		g.put(Bulk(12, 1, 0))
	default:
		few(g.table)
		few(g.table)
		g.put(Op(0x25, 0), Op(0x26, 0)) // table.get, table.set
		few(g.table)
		g.put(Op(0xd2), U32(uint32(g.r.IntN(len(g.funcs)))), Op(0x26, 0))
	}
}
