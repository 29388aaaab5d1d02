package wasmtest

import (
	"compress/gzip"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

// Spoken is an answer that lets agent a speak.
const Spoken = `{"action":"speak","agent":"a","reason":"r"}`

// A Guest is a module that tests and benchmarks run.
type Guest struct {
	Name   string
	Policy string // that its configure chooses
	Module []byte
}

// Guests returns modules that keep state wherever they can ([Nasty]), two
// built-in policies, and the kits' policy in three languages. root is the path
// to the module's root.
func Guests(tb testing.TB, root string) []Guest {
	tb.Helper()
	b := Builtins(tb, root)
	all := []Guest{{"nasty", "nasty", Nasty()}, {"go-roundrobin", "roundrobin", b}, {"go-humanfirst", "humanfirst", b}}
	for _, lang := range []string{"c", "rust", "assemblyscript"} {
		all = append(all, Guest{lang, "kit", Kit(tb, root, lang)})
	}
	return all
}

// Kit returns the module of the kit's policy in a language.
func Kit(tb testing.TB, root, lang string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(root, "policies", "policytest", "testdata", "guests", lang+".wasm"))
	if err != nil {
		tb.Fatalf("the kits' modules are committed: %v", err)
	}
	return b
}

// Builtins returns the module of the built-in policies.
func Builtins(tb testing.TB, root string) []byte {
	tb.Helper()
	file, err := os.Open(filepath.Join(root, "policies", "builtins.wasm.gz"))
	if err != nil {
		tb.Fatalf("the built-in policies are committed: %v", err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// Nasty adds up every byte and global that it starts with and the size of its
// memory, answers with that, overwrites all of it, and grows.
func Nasty() []byte { return NastyOf(2) }

// NastyOf is Nasty with so many pages of memory.
func NastyOf(pages uint32) []byte {
	m := &Module{}
	m.Memory(pages, 200)
	m.Export("memory", Memory, 0)
	m.Finish()
	n := m.Global(I32, true, I32Const(7))
	f := m.Global(F64, true, Op(0x44, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f))
	m.Table(FuncRef, 2, -1)
	m.Elem(0, 0, 1)
	m.Data(5000, []byte("hello"))
	// locals: 2 sum, 3 address
	sum := Loop(
		LocalGet(2), I32Const(31), Op(I32Mul), LocalGet(3), Mem(0x28, 2, 0), Op(I32Add), LocalSet(2),
		LocalGet(3), I32Const(4), Op(I32Add), LocalTee(3),
		MemorySize(), I32Const(16), Op(I32Shl), Op(I32LtU), BrIf(0))
	m.Decide([]byte{I32, I32}, sum,
		LocalGet(2), GlobalGet(n), Op(I32Xor), GlobalGet(f), Op(0xaa), Op(I32Add), // i32.trunc_f64_s
		MemorySize(), I32Const(1000003), Op(I32Mul), Op(I32Add), LocalSet(2),
		GlobalGet(n), I32Const(1), Op(I32Add), GlobalSet(n),
		GlobalGet(f), GlobalGet(f), Op(0xa0), GlobalSet(f),
		LocalGet(1), I32Const(3), Op(0x70), Op(I32Eqz), // every third length grows
		If(I32Const(3), MemoryGrow(), Op(Drop)),
		I32Const(0), I32Const(170), MemorySize(), I32Const(16), Op(I32Shl), Bulk(11, 0),
		I32Const(0), LocalGet(2), Mem(0x36, 2, 0),
		LocalGet(1), I32Const(7), Op(0x70), Op(I32Eqz), // every seventh traps
		If(Op(Unreachable)),
		I64Const(4))
	return m.Bytes()
}

// RandomInput returns an input of about size bytes that contains mark often.
func RandomInput(r *rand.Rand, size int, mark string) policy.Input {
	in := policy.Input{
		ABI: 1, Room: "r", Decision: int64(1 + r.Intn(9)), Turn: r.Intn(50), NowMS: int64(r.Intn(1e6)), Seed: fmt.Sprintf("%x", r.Int63()),
		Objective: mark,
	}
	for i := range 2 + r.Intn(4) {
		a := policy.Agent{ID: fmt.Sprintf("a%d", i), Name: fmt.Sprintf("Agent %d", i), Kind: policy.Local, Eligible: r.Intn(5) > 0, Turns: r.Intn(9), LastTurn: r.Intn(9)}
		a.Domains = []string{"postgres", "security"}[:r.Intn(3)]
		in.Agents = append(in.Agents, a)
	}
	for n := 0; n < size-700; {
		text := strings.Repeat(mark+" lock time and rollback ", 1+r.Intn(40))
		in.Events = append(in.Events, policy.Event{
			Seq: int64(len(in.Events) + 1), Turn: len(in.Events), From: fmt.Sprintf("a%d", r.Intn(3)),
			Kind: []string{policy.KindMessage, policy.KindHuman}[r.Intn(2)], Text: text, Bytes: len(text),
		})
		n += len(text) + 120
	}
	return in
}

// TableSetter answers with the contents of its table, and changes them. It
// cannot start from a snapshot.
func TableSetter() []byte {
	m := Policy().Finish()
	zero := m.Func(nil, []byte{I32}, I32Const('0'))
	one := m.Func(nil, []byte{I32}, I32Const('1'))
	m.Table(FuncRef, 1, -1)
	m.Elem(0, zero)
	m.ElemRaw(append([]byte{3, 0, 1}, U32(one)...)...) // declares
	m.Decide(nil,
		I32Const(AnswerAt), I32Const(0), CallIndirect(m.Type(nil, []byte{I32}), 0), Mem(0x3a, 0, 0),
		I32Const(0), Op(0xd2), U32(one), Op(0x26, 0), Answer(1))
	return m.Bytes()
}

// Counting keeps a count in a global and in memory, and answers with it.
func Counting() []byte {
	m := Policy().Finish()
	answer := `{"action":"decline","reason":"0"}`
	at := int32(AnswerAt + strings.Index(answer, "0"))
	g := m.Global(I32, true, I32Const('0'))
	m.Data(AnswerAt, []byte(answer))
	m.Decide(nil,
		GlobalGet(g), I32Const(1), Op(I32Add), GlobalSet(g),
		I32Const(at), I32Const(at), Mem(0x2d, 0, 0), GlobalGet(g), Op(I32Add), I32Const('0'), Op(I32Sub), Mem(0x3a, 0, 0),
		Answer(len(answer)))
	return m.Bytes()
}

// Where a policy of [Policy] keeps its answer and its input.
const (
	AnswerAt = 64
	InputAt  = 4096
)

// Policy returns a module that is a policy of ABI 1, with one page of memory,
// and has everything but roompolicy_decide: see [Module.Decide].
func Policy() *Module {
	m := &Module{}
	m.Memory(1, -1)
	m.Export("memory", Memory, 0)
	return m
}

// Finish adds the marker and an alloc that grows the memory as needed, when
// imports are done.
func (m *Module) Finish() *Module {
	m.Export("roompolicy_abi_1", Func, m.Func(nil, nil))
	m.Export("roompolicy_alloc", Func, m.Func([]byte{I32}, []byte{I32}, grow(), I32Const(InputAt)))
	return m
}

// grow grows memory until it holds local 0 bytes after InputAt.
func grow() []byte {
	need := slices.Concat(LocalGet(0), I32Const(InputAt+0xffff), Op(I32Add), I32Const(16), Op(I32ShrU))
	return slices.Concat(need, MemorySize(), Op(I32GtU), If(need, MemorySize(), Op(I32Sub), MemoryGrow(), Op(Drop)))
}

// Decide exports a function (i32 ptr, i32 len) -> i64 with locals as
// roompolicy_decide.
func (m *Module) Decide(locals []byte, body ...[]byte) uint32 {
	f := m.Locals([]byte{I32, I32}, []byte{I64}, locals, body...)
	m.Export("roompolicy_decide", Func, f)
	return f
}

// Answering returns a policy that always gives this answer.
func Answering(answer string) []byte {
	m := &Module{}
	m.Memory(2+uint32(len(answer))>>16, -1)
	m.Export("memory", Memory, 0)
	m.Finish()
	const at = 1 << 16 // beyond any input of a test
	m.Data(at, []byte(answer))
	m.Decide(nil, I64Const(at<<32|int64(len(answer))))
	return m.Bytes()
}

// Answer pushes the place and the length of an answer at AnswerAt.
func Answer(n int) []byte { return I64Const(AnswerAt<<32 | int64(n)) }
