package wasm

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// buildGo builds what a Go command makes for WebAssembly.
func buildGo(t *testing.T, args ...string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "go.wasm")
	args = append(args[:1:1], append([]string{"-ldflags=-w", "-o", file}, args[1:]...)...)
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// roomy are limits for programs that are no policies.
func roomy() Limits {
	l := Default
	l.Bytes, l.Datas, l.Nesting = 64<<20, 1<<20, 1<<20
	return l
}

func straight(t *testing.T, b []byte) []byte {
	t.Helper()
	out, err := Straighten(b, roomy())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// runGo runs a program, and returns what it printed and its exit code.
func runGo(t *testing.T, module []byte, args ...string) (printed string, code uint32) {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	var out bytes.Buffer
	_, err := r.InstantiateWithConfig(ctx, module, wazero.NewModuleConfig().WithArgs(append([]string{"go"}, args...)...).
		WithStdout(&out).WithStderr(&out).WithSysNanosleep().WithSysNanotime().WithSysWalltime())
	var exit *sys.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		t.Fatalf("%v\n%s", err, out.String())
	}
	return out.String(), code
}

// TestStraightProgram: a program that uses much of Go prints the same, and
// nearly all of its functions were rewritten; when they are not, the compiler
// of a newer Go writes something else.
func TestStraightProgram(t *testing.T) {
	t.Parallel()
	module := buildGo(t, "build", "./testdata/gopher")
	s := straight(t, module)
	want, wantCode := runGo(t, module)
	got, code := runGo(t, s)
	if got != want || code != wantCode || code != 0 {
		t.Errorf("exit %d: %s\nwant %d: %s", code, got, wantCode, want)
	}
	if again := straight(t, s); !bytes.Equal(again, s) {
		t.Error("it was done twice")
	}
	if rewritten, like := countStraight(t, module); rewritten < like*9/10 {
		t.Errorf("%d functions of %d were rewritten", rewritten, like)
	}
}

// countStraight counts the functions that were rewritten, and those that have
// a table and are not of the runtime.
func countStraight(t *testing.T, b []byte) (rewritten, like int) {
	t.Helper()
	l := roomy()
	mod, err := split(b, &l)
	if err != nil || mod.read() != nil {
		t.Fatal("the module cannot be read")
	}
	s := straightener{mod: mod, typ: mod.sharedType(), names: mod.namesOf()}
	s.code()
	for _, sec := range mod.sections {
		c := sec.body
		for f := 0; sec.id == secCode && f < mod.ownFuncs; f++ {
			if f == 0 {
				c.u32()
			}
			index := mod.importedFuncs() + f
			if body := c.vec(); bytes.IndexByte(body, opBrTable) >= 0 && int(mod.funcs[index]) == s.typ && !isSeldom(s.names[index]) {
				like++
			}
		}
	}
	return s.added, like
}

// TestStraightLibrary: packages of the standard library pass their own tests.
func TestStraightLibrary(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles tests of the standard library")
	}
	t.Parallel()
	for _, pkg := range []string{"strconv", "sync"} {
		t.Run(pkg, func(t *testing.T) {
			module := straight(t, buildGo(t, "test", "-c", pkg))
			if printed, code := runGo(t, module, "-test.short", "-test.run=Test"); code != 0 || !bytes.HasSuffix([]byte(printed), []byte("PASS\n")) {
				t.Errorf("exit %d: %s", code, printed)
			}
		})
	}
}

// TestStraightOthers: what Go did not write stays as it is.
func TestStraightOthers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"c", "rust", "assemblyscript", "wat"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "policies", "policytest", "testdata", "guests", name+".wasm"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(straight(t, b), b) {
			t.Errorf("%s was changed", name)
		}
	}
}

// Globals of the functions that randomJumps makes.
const (
	trace = 3 // i64: what was done so far, hashed
	steps = 4 // i64: how much more may be done
)

// Locals of theirs that hold pointers.
const (
	pointer = 2 // and 3
	heap    = 8192
)

// randomWork is what a unit may do: use its stack and what it points to, call
// somebody who writes to what it was given, in an if or not.
func randomWork(r *rand.Rand, deep int) []byte {
	mix := func(value ...byte) []byte {
		return cat(w.GlobalGet(trace), w.I64Const(31), w.Op(w.I64Mul), value, w.Op(opI64Add), w.GlobalSet(trace))
	}
	onStack := func() uint32 { return uint32(8 * r.IntN(8)) }
	at := func(p uint32) []byte { return cat(w.LocalGet(p), w.Op(opI32WrapI64)) }
	p := uint32(pointer + r.IntN(2))
	switch r.IntN(9) {
	case 0, 1:
		op, align, off := byte(opI64Store), uint32(3), onStack()
		if r.IntN(3) == 0 {
			op, align, off = opI64Store8, 0, off+uint32(r.IntN(8))
		}
		return cat(w.LocalGet(stack), w.GlobalGet(trace), w.Mem(op, align, off))
	case 2, 3:
		return mix(cat(w.LocalGet(stack), w.Mem(opI64Load, 3, onStack()))...)
	case 4: // another place of the heap
		return cat(w.GlobalGet(trace), w.I64Const(15), w.Op(0x83), w.I64Const(3), w.Op(w.I64Shl), w.I64Const(heap), w.Op(opI64Add), w.LocalSet(p))
	case 5:
		return mix(cat(at(p), w.Mem(opI64Load, 3, 8), at(p), w.Mem(opI64Load, 3, 40), w.Op(w.I64Xor))...)
	case 6:
		return cat(at(p), w.GlobalGet(trace), w.Mem(opI64Store, 3, onStack()))
	case 7:
		return cat(push5, w.LocalGet(stack), w.I64Const(77), w.Mem(opI64Store, 3, 0), w.I32Const(0), w.Call(1),
			w.GlobalGet(0), w.LocalSet(stack), w.If(w.I32Const(1), w.Op(opReturn)))
	}
	if deep == 0 {
		return nil
	}
	then := cat(w.GlobalGet(trace), w.I64Const(1), w.Op(0x83), w.Op(opI64Eqz), w.Op(opIf, blockEmpty), randomWork(r, deep-1), randomWork(r, deep-1))
	if r.IntN(2) == 0 {
		then = cat(then, w.Op(opElse), randomWork(r, deep-1), randomWork(r, deep-1))
	}
	return cat(then, w.Op(opEnd))
}

// push5 is how Go begins a call.
var push5 = cat(w.LocalGet(stack), w.I32Const(8), w.Op(w.I32Sub), w.LocalTee(stack), w.GlobalSet(0))

// randomJumps makes a function as Go writes it, of units that jump anywhere but
// to where it takes its frame.
func randomJumps(r *rand.Rand) []byte {
	const i64mul, i64shr, i64and = 0x7e, 0x88, 0x83
	n := 3 + r.IntN(9)
	next := func(u, pcb int) []byte { // the jump, from no frame of its own
		return cat(w.I32Const(int32(pcb)), w.LocalSet(pcB), w.Br(uint32(n-1-u)))
	}
	unit := func(u int) []byte {
		code := cat(w.GlobalGet(trace), w.I64Const(31), w.Op(i64mul), w.I64Const(int64(u+1)), w.Op(opI64Add), w.GlobalSet(trace),
			w.GlobalGet(steps), w.I64Const(1), w.Op(opI64Sub), w.GlobalSet(steps),
			w.GlobalGet(steps), w.Op(opI64Eqz), w.If(w.I32Const(0), w.Op(opReturn)))
		for range r.IntN(6) {
			code = cat(code, randomWork(r, 2))
		}
		for range r.IntN(3) {
			inner := cat(randomWork(r, 0), w.I32Const(int32(1+r.IntN(n-1))), w.LocalSet(pcB), w.Br(uint32(n-u)))
			if r.IntN(2) == 0 {
				inner = cat(w.Op(opNop), w.GlobalGet(trace), w.I64Const(7), w.Op(i64mul), w.GlobalSet(trace), inner)
			}
			code = cat(code, w.GlobalGet(trace), w.I64Const(int64(r.IntN(20))), w.Op(i64shr), w.I64Const(1), w.Op(i64and), w.Op(opI64Eqz), w.Op(opI32Eqz), w.If(inner))
		}
		switch r.IntN(4) {
		case 0:
			return cat(code, next(u, 1+r.IntN(n-1)))
		case 1:
			return cat(code, w.I32Const(0), w.Op(opReturn))
		}
		return code
	}
	var depths []uint32
	for u := range n {
		depths = append(depths, uint32(u))
	}
	body := w.Block(w.LocalGet(pcB), w.BrTable(depths...))
	for u := range n - 1 {
		if u > 0 {
			body = w.Block(body, unit(u))
			continue
		}
		frame := cat(w.LocalGet(stack), w.I32Const(64), w.Op(w.I32Sub), w.LocalTee(stack), w.GlobalSet(0))
		body = w.Block(body, frame, w.I64Const(heap), w.LocalSet(pointer), w.I64Const(heap), w.LocalSet(pointer+1), unit(u))
	}
	body = cat(w.GlobalGet(0), w.LocalSet(stack), w.Block(w.Loop(body, unit(n-1)), w.Op(opUnreachable)), w.I32Const(1))
	m := &w.Module{}
	m.Memory(1, -1)
	for range 2 {
		m.Global(w.I32, true, w.I32Const(4096))
	}
	for range 3 {
		m.Global(w.I64, true, w.I64Const(0))
	}
	m.Export("run", kindFunc, m.Locals([]byte{w.I32}, []byte{w.I32}, []byte{w.I32, w.I64, w.I64}, body))
	m.Func([]byte{w.I32}, []byte{w.I32}, // writes to what it was given, and pops the return address
		w.GlobalGet(0), w.GlobalGet(trace), w.Mem(opI64Store, 3, 8), w.GlobalGet(0), w.GlobalGet(steps), w.Mem(opI64Store, 3, 24),
		w.GlobalGet(0), w.I32Const(8), w.Op(w.I32Add), w.GlobalSet(0), w.I32Const(0))
	m.Export("trace", kindGlobal, trace)
	m.Export("steps", kindGlobal, steps)
	m.Custom("producers", []byte("\x01\x08language\x01\x02Go\x041.26"))
	return m.Bytes()
}

// TestStraightJumps: whatever jumps where, the same is done in the same order.
func TestStraightJumps(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	for seed := range uint64(1000) {
		b := randomJumps(rand.New(rand.NewPCG(seed, 1)))
		s := straight(t, b)
		if bytes.Equal(s, b) || len(s) < len(b) {
			t.Fatalf("seed %d: it stayed as it is", seed)
		}
		for start := range uint64(3) {
			was, will := runJumps(t, rt, b, start), runJumps(t, rt, s, start)
			if was != will {
				t.Fatalf("seed %d, from %d: %v, straight %v", seed, start, was, will)
			}
		}
	}
}

// runJumps returns what a function of randomJumps did.
func runJumps(t *testing.T, rt wazero.Runtime, module []byte, start uint64) [3]uint64 {
	t.Helper()
	ctx := context.Background()
	m, err := rt.InstantiateWithConfig(ctx, module, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(ctx)
	global := func(name string) api.MutableGlobal { return m.ExportedGlobal(name).(api.MutableGlobal) }
	global("steps").Set(200)
	global("trace").Set(start * 1234567)
	result, err := m.ExportedFunction("run").Call(ctx, start%2)
	if err != nil { // behind the last unit
		result = []uint64{99}
	}
	return [3]uint64{global("trace").Get(), global("steps").Get(), result[0]}
}

// TestStraightElse: an else without an if, which no compiler writes, is left
// for the engine to refuse.
func TestStraightElse(t *testing.T) {
	t.Parallel()
	body := w.Block(w.Block(w.LocalGet(pcB), w.BrTable(0, 1)), w.Op(opElse))
	body = cat(w.GlobalGet(0), w.LocalSet(stack), w.Block(w.Loop(body, w.I32Const(0), w.Op(opReturn)), w.Op(opUnreachable)), w.I32Const(1))
	m := &w.Module{}
	m.Global(w.I32, true, w.I32Const(0))
	m.Export("run", kindFunc, m.Locals([]byte{w.I32}, []byte{w.I32}, []byte{w.I32}, body))
	m.Custom("producers", []byte("\x01\x08language\x01\x02Go\x041.26"))
	s, err := Straighten(m.Bytes(), roomy())
	if err != nil || !bytes.Contains(s, body) {
		t.Errorf("it was rewritten (%v): % x", err, s)
	}
}
