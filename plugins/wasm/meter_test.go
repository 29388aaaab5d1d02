package wasm

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

var budget = Budget{Fuel: 1_000_000, Depth: 1000}

func cat(b ...[]byte) []byte { return slices.Concat(b...) }

// oneFunc is a module with one exported function run and these locals.
func oneFunc(locals []byte, code ...[]byte) *w.Module {
	m := &w.Module{}
	m.Memory(1, -1)
	m.Export("run", w.Func, m.Locals(nil, nil, locals, code...))
	return m
}

func TestRefuses(t *testing.T) {
	many := func(n int, f func(m *w.Module)) []byte {
		m := &w.Module{}
		for range n {
			f(m)
		}
		return m.Bytes()
	}
	table := func(ops ...[]byte) []byte {
		m := oneFunc(nil, ops...)
		m.Table(w.FuncRef, 2, -1)
		return m.Bytes()
	}
	for name, tt := range map[string]struct {
		module []byte
		kind   Kind
		says   string
	}{
		"empty":               {nil, Malformed, "not a WebAssembly module"},
		"bad magic":           {[]byte("\x00asn\x01\x00\x00\x00"), Malformed, "not a WebAssembly module"},
		"bad version":         {[]byte("\x00asm\x02\x00\x00\x00"), Malformed, "version 1"},
		"component":           {[]byte("\x00asm\x0d\x00\x01\x00"), Malformed, "version 1"},
		"truncated":           {oneFunc(nil).Bytes()[:20], Malformed, "unexpected end"},
		"2^32-1 functions":    {append([]byte(w.Header), w.Section(3, w.U32(1<<32-1))...), Exceeds, "functions"},
		"2^32-1 types":        {append([]byte(w.Header), w.Section(1, w.U32(1<<32-1))...), Exceeds, "types"},
		"twice":               {append(oneFunc(nil).Bytes(), w.Section(10, []byte{0})...), Malformed, "out of order"},
		"unknown section":     {append([]byte(w.Header), w.Section(99, nil)...), Malformed, "unknown section"},
		"trailing":            {append([]byte(w.Header), w.Section(1, []byte{0, 0})...), Malformed, "too many"},
		"functions only":      {append([]byte(w.Header), cat(w.Section(1, []byte{1, 0x60, 0, 0}), w.Section(3, []byte{1, 0}))...), Malformed, "without code"},
		"4 billion locals":    {one(cat(w.U32(1), w.U32(4_000_000_000), w.Op(w.I64, w.End))), Exceeds, "locals"},
		"2^32 locals":         {one(cat(w.U32(2), w.U32(1<<32-1), w.Op(w.I64), w.U32(1), w.Op(w.I32, w.End))), Exceeds, "locals"},
		"50,001 locals":       {one(cat(w.U32(1), w.U32(50_001), w.Op(w.I64, w.End))), Exceeds, "locals"},
		"locals of all":       {many(200, func(m *w.Module) { m.Body(nil, nil, cat(w.U32(1), w.U32(49_999), w.Op(w.I64, w.End))) }), Exceeds, "all functions"},
		"a giant function":    {one(cat(w.U32(0), w.Repeat(1<<20, w.Op(w.Nop)), w.Op(w.End))), Exceeds, "a body of"},
		"8 MiB":               {append([]byte(w.Header), w.Section(0, make([]byte, 8<<20))...), Exceeds, "bytes"},
		"nesting":             {one(cat(w.U32(0), w.Repeat(5000, w.Op(2, w.Empty)), w.Repeat(5001, w.Op(w.End)))), Exceeds, "nested"},
		"br_table":            {oneFunc(nil, w.I32Const(0), w.BrTable(make([]uint32, 20_000)...)).Bytes(), Exceeds, "labels"},
		"100 M elements":      {many(1, func(m *w.Module) { m.Table(w.FuncRef, 100_000_000, -1) }), Exceeds, "elements"},
		"2^32-1 elements":     {many(1, func(m *w.Module) { m.Table(w.FuncRef, 1<<32-1, -1) }), Exceeds, "elements"},
		"two tables":          {many(2, func(m *w.Module) { m.Table(w.FuncRef, 1, -1) }), Exceeds, "tables"},
		"two memories":        {many(2, func(m *w.Module) { m.Memory(1, -1) }), Exceeds, "memories"},
		"60,000 pages":        {many(1, func(m *w.Module) { m.Memory(60_000, -1) }), Exceeds, "pages"},
		"memory64":            {many(1, func(m *w.Module) { m.MemoryRaw(4, 1) }), Unsupported, "64-bit"},
		"shared memory":       {many(1, func(m *w.Module) { m.MemoryRaw(3, 1, 1) }), Unsupported, "shared"},
		"atomics":             {oneFunc(nil, w.Op(0xfe, 0x03, 0)).Bytes(), Unsupported, "instruction 0xfe"},
		"tail call":           {oneFunc(nil, w.Op(0x12, 0)).Bytes(), Unsupported, "instruction 0x12"},
		"exceptions":          {oneFunc(nil, w.Op(0x06, w.Empty, w.End)).Bytes(), Unsupported, "instruction 0x6"},
		"relaxed SIMD":        {oneFunc(nil, cat([]byte{0xfd}, w.U32(0x100))).Bytes(), Unsupported, "instruction 0xfd"},
		"table.grow":          {table(w.Op(0xd0, w.FuncRef), w.I32Const(1), w.Bulk(15, 0), w.Op(w.Drop)), Unsupported, "table.grow"},
		"fuel":                {oneFunc(nil, w.I64Const(1e9), w.GlobalSet(padding)).Bytes(), Malformed, "no global"},
		"fuel, read":          {oneFunc(nil, w.GlobalGet(padding), w.Op(w.Drop)).Bytes(), Malformed, "no global"},
		"fuel, exported":      {func() []byte { m := oneFunc(nil); m.Export("f", w.Global, padding); return m.Bytes() }(), Malformed, "no global"},
		"fuel, called so":     {func() []byte { m := oneFunc(nil); m.Export(ExportFuel, w.Func, 0); return m.Bytes() }(), Unsupported, "the host's"},
		"scratch local":       {oneFunc([]byte{w.I32}, w.LocalGet(1), w.Op(w.Drop)).Bytes(), Malformed, "no local"},
		"unknown function":    {oneFunc(nil, w.Call(1)).Bytes(), Malformed, "no function"},
		"unknown label":       {oneFunc(nil, w.Br(1)).Bytes(), Malformed, "no label"},
		"unknown block type":  {oneFunc(nil, w.Op(2, 9, w.End)).Bytes(), Malformed, "unknown type"},
		"unknown data":        {oneFunc(nil, w.Bulk(9, 0)).Bytes(), Malformed, "no data segment"},
		"unknown table":       {oneFunc(nil, w.I32Const(0), w.CallIndirect(0, 0)).Bytes(), Malformed, "no table"},
		"unknown start":       {func() []byte { m := oneFunc(nil); m.Start(1); return m.Bytes() }(), Malformed, "no function"},
		"memory that is not":  {many(1, func(m *w.Module) { m.Func(nil, nil, w.MemorySize(), w.Op(w.Drop)) }), Malformed, "there is none"},
		"a body without end":  {one(cat(w.U32(0), w.Op(w.Nop))), Malformed, "without an end"},
		"code behind the end": {one(cat(w.U32(0), w.Op(w.End, w.Nop))), Malformed, "too many"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Meter(tt.module, Default, budget)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("accepted, or %v", err)
			}
			if e.Kind != tt.kind || !strings.Contains(e.What, tt.says) {
				t.Errorf("kind %d: %v", e.Kind, e)
			}
		})
	}
}

// one is a module with one function of this body.
func one(body []byte) []byte {
	m := &w.Module{}
	m.Body(nil, nil, body)
	return m.Bytes()
}

// run meters m, calls its function run with the budget, and returns the fuel
// and depth left. Both engines must agree.
func run(t *testing.T, m []byte, b Budget) (fuel int64, depth int32, err error) {
	t.Helper()
	metered, err := Meter(m, Default, b)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for i, c := range []wazero.RuntimeConfig{wazero.NewRuntimeConfigInterpreter(), wazero.NewRuntimeConfigCompiler()} {
		r := wazero.NewRuntimeWithConfig(ctx, c)
		defer r.Close(ctx)
		mod, e := r.InstantiateWithConfig(ctx, metered.Whole, wazero.NewModuleConfig())
		if e != nil {
			t.Fatal(e)
		}
		_, e = mod.ExportedFunction("run").Call(ctx)
		f, d := int64(mod.ExportedGlobal(ExportFuel).Get()), int32(mod.ExportedGlobal(ExportDepth).Get())
		if i == 1 && (f != fuel || d != depth || (e == nil) != (err == nil)) {
			t.Errorf("interpreter: %d fuel, %d depth left, %v; compiler: %d, %d, %v", fuel, depth, err, f, d, e)
		}
		fuel, depth, err = f, d, e
	}
	return fuel, depth, err
}

func TestFuelEndsLoops(t *testing.T) {
	left, _, err := run(t, oneFunc(nil, w.Loop(w.Br(0))).Bytes(), budget)
	if err == nil || left >= 0 {
		t.Errorf("%d left, %v", left, err)
	}
}

func TestFuelIsExact(t *testing.T) {
	// Entry 1, const and set; 10 times get, const, sub, tee, br_if; a check each.
	m := oneFunc([]byte{w.I32}, w.I32Const(10), w.LocalSet(0),
		w.Loop(w.LocalGet(0), w.I32Const(1), w.Op(w.I32Sub), w.LocalTee(0), w.BrIf(0)))
	left, _, err := run(t, m.Bytes(), budget)
	if want := budget.Fuel - (1 + 2 + costCheck + 10*(5+costCheck)); err != nil || left != want {
		t.Errorf("%d left, want %d, %v", left, want, err)
	}
}

func TestFuelCountsLengths(t *testing.T) {
	fill := cat(w.I32Const(0), w.I32Const(7), w.I32Const(65536), w.Bulk(11, 0))
	left, _, err := run(t, oneFunc(nil, fill).Bytes(), budget)
	if used := budget.Fuel - left; err != nil || used < 65536>>shiftBulk {
		t.Errorf("%d used, %v", used, err)
	}
	left, _, err = run(t, oneFunc(nil, w.Repeat(300, fill)).Bytes(), budget) // straight: no loop, no call
	if err == nil || left >= 0 {
		t.Errorf("%d left, %v", left, err)
	}
}

func TestDepth(t *testing.T) {
	m := &w.Module{}
	m.Export("run", w.Func, m.Func(nil, nil, w.Call(0)))
	_, depth, err := run(t, m.Bytes(), budget)
	if err == nil || depth >= 0 {
		t.Errorf("%d left, %v", depth, err)
	}
	for levels, fits := range map[int]bool{900: true, 998: true, 1000: false} { // levels that return give their depth back
		m = &w.Module{}
		f := m.Func(nil, nil)
		for range levels {
			f = m.Func(nil, nil, w.Call(f))
		}
		m.Export("run", w.Func, m.Func(nil, nil, w.Repeat(20, w.Call(f))))
		if _, depth, err = run(t, m.Bytes(), budget); (err == nil) != fits {
			t.Errorf("%d levels: %d left, %v", levels, depth, err)
		}
	}
}

// TestDepthThroughATable: an indirect call takes depth like any other.
func TestDepthThroughATable(t *testing.T) {
	m := &w.Module{}
	typ := m.Type(nil, nil)
	m.Table(w.FuncRef, 1, -1)
	m.Elem(0, 0)
	m.Export("run", w.Func, m.Func(nil, nil, w.I32Const(0), w.CallIndirect(typ, 0)))
	_, depth, err := run(t, m.Bytes(), budget)
	if err == nil || depth >= 0 || !strings.Contains(err.Error(), "unreachable") {
		t.Errorf("%d left, %v", depth, err)
	}
}

// TestLeavesDoNotAddUp: fuel is not looked at in a small function that calls
// nothing. However often it is called, and whichever way, not much more is used than
// there is.
func TestLeavesDoNotAddUp(t *testing.T) {
	work := w.Repeat(30, w.I32Const(1), w.I32Const(2), w.Op(w.I32Add), w.Op(w.Drop)) // 120
	skipped := cat(w.Block(w.I32Const(1), w.BrIf(0), w.Repeat(50, w.Call(0))), w.Repeat(50, w.Call(0)))
	for name, code := range map[string][]byte{
		"straight": w.Repeat(6000, w.Call(0)),
		"blocks":   w.Repeat(60, skipped),
		"indirect": w.Repeat(6000, w.I32Const(0), w.CallIndirect(0, 0)),
		"tree":     w.Repeat(900, w.Call(1)),
	} {
		m := &w.Module{}
		m.Func(nil, nil, work)
		m.Func(nil, nil, w.Repeat(20, w.Call(0)))
		m.Table(w.FuncRef, 1, -1)
		m.Elem(0, 0)
		m.Export("run", w.Func, m.Func(nil, nil, code))
		b := budget
		b.Fuel = 200_000
		left, _, err := run(t, m.Bytes(), b)
		if err == nil || left >= 0 || left < -(1000*maxLeafCost+50_000) { // the body itself may cost its length
			t.Errorf("%s: %d left, %v", name, left, err)
		}
	}
}

// TestDepthBoundsTheStack: large frames take more depth, so that the stack
// stays small on every engine.
func TestDepthBoundsTheStack(t *testing.T) {
	m := &w.Module{}
	big := cat(w.U32(1), w.U32(40_000), w.Op(w.I64), w.Call(0), w.Op(w.End))
	m.Export("run", w.Func, m.Body(nil, nil, big))
	_, depth, err := run(t, m.Bytes(), budget)
	if err == nil || depth >= 0 || !strings.Contains(err.Error(), "unreachable") {
		t.Errorf("%d left, %v: the engine's own limit ended it", depth, err)
	}
}

func TestRewindable(t *testing.T) {
	table := func(ops ...[]byte) []byte {
		m := oneFunc(nil, ops...)
		m.Table(w.FuncRef, 2, -1)
		m.Elem(0, 0)
		return m.Bytes()
	}
	global := func(typ byte, init ...byte) []byte {
		m := oneFunc(nil)
		m.Global(typ, true, init)
		return m.Bytes()
	}
	passive := oneFunc(nil, w.I32Const(0), w.I32Const(0), w.I32Const(3), w.Bulk(8, 0, 0))
	passive.Passive([]byte("abc"))
	for name, tt := range map[string]struct {
		module  []byte
		because string
	}{
		"plain":       {table(), ""},
		"i32":         {global(w.I32, w.I32Const(1)...), ""},
		"table.set":   {table(w.I32Const(0), w.Op(0xd0, w.FuncRef), w.Op(0x26, 0)), "table.set"},
		"table.fill":  {table(w.I32Const(0), w.Op(0xd0, w.FuncRef), w.I32Const(1), w.Bulk(17, 0)), "table.fill"},
		"table.copy":  {table(w.I32Const(0), w.I32Const(0), w.I32Const(0), w.Bulk(14, 0, 0)), "table.copy"},
		"ref.func":    {table(w.Op(0xd2, 0), w.Op(w.Drop)), "ref.func"},
		"elem.drop":   {table(w.Bulk(13, 0)), "elem.drop"},
		"memory.init": {passive.Bytes(), "memory.init"},
		"v128":        {global(w.V128, append([]byte{0xfd, 12}, make([]byte, 16)...)...), "a mutable global"},
		"funcref":     {global(w.FuncRef, 0xd0, w.FuncRef), "a mutable global"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Meter(tt.module, Default, budget)
			if err != nil {
				t.Fatal(err)
			}
			if m.Restorable != (tt.because == "") || !strings.HasPrefix(m.Reason, tt.because) {
				t.Errorf("%v %q", m.Restorable, m.Reason)
			}
		})
	}
}

// TestBare: the bare form has the same code and globals, and no data.
func TestBare(t *testing.T) {
	m := oneFunc(nil)
	m.Data(0, []byte("hello"))
	m.Start(0)
	m.Custom("name", []byte{})
	m.Custom("other", []byte("dropped"))
	metered, err := Meter(m.Bytes(), Default, budget)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	mod, err := r.InstantiateWithConfig(ctx, metered.Bare, wazero.NewModuleConfig())
	if err != nil {
		t.Fatal(err)
	}
	if mod.ExportedFunction("run") == nil {
		t.Error("no function")
	}
	if _, ok := mod.ExportedGlobal(ExportFuel).(api.MutableGlobal); !ok {
		t.Error("no fuel")
	}
	if strings.Contains(string(metered.Bare), "hello") || strings.Contains(string(metered.Whole), "dropped") {
		t.Error("data or a custom section is left")
	}
}

// TestNames: names of functions, valid or not, do not reach the engine.
func TestNames(t *testing.T) {
	named := func(count uint32, entries ...[]byte) []byte {
		m := oneFunc(nil, w.Op(w.Unreachable))
		list := cat(w.U32(count), cat(entries...))
		m.Custom("name", cat([]byte{0}, w.U32(2), w.Name("x"), []byte{1}, w.U32(uint32(len(list))), list, []byte{2, 1, 0}))
		return m.Bytes()
	}
	for name, module := range map[string][]byte{
		"valid":            named(1, w.U32(0), w.Name("evil\x1b[2Jname")),
		"4 billion names":  named(1<<32 - 1),
		"unknown function": named(1, w.U32(9), w.Name("nine")),
		"twice":            named(2, w.U32(0), w.Name("a"), w.U32(0), w.Name("b")),
		"truncated":        named(1, w.U32(0), w.U32(200)),
	} {
		metered, err := Meter(module, Default, budget)
		if err != nil || strings.Contains(string(metered.Whole), "name") {
			t.Errorf("%s: %v, or the names are kept", name, err)
		}
	}
}

func TestCustom(t *testing.T) {
	m := oneFunc(nil)
	m.Custom("roompolicy.manifest", []byte("{}"))
	b, ok := Custom(m.Bytes(), "roompolicy.manifest")
	if !ok || string(b) != "{}" {
		t.Errorf("%q %v", b, ok)
	}
	if _, ok := Custom(m.Bytes(), "other"); ok {
		t.Error("found what is not there")
	}
}
