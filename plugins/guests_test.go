package plugins

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
	"github.com/folkmoot/moot/policies/policy"
	"go.uber.org/goleak"
)

// A guest is a module that tests and benchmarks run.
type guest struct {
	name, policy string
	module       []byte
}

// guests are the kits' policy in every language, built-in policies, and one
// that hides in every corner it can find.
func guests(tb testing.TB) []guest {
	tb.Helper()
	all := []guest{{"nasty", "nasty", nasty()}}
	if b := builtins(tb); b != nil {
		all = append(all, guest{"go-roundrobin", "roundrobin", b}, guest{"go-humanfirst", "humanfirst", b})
	}
	for _, lang := range []string{"c", "rust", "assemblyscript"} {
		all = append(all, guest{lang, "kit", guestFile(tb, lang)})
	}
	return all
}

func guestFile(tb testing.TB, lang string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("..", "policies", "policytest", "testdata", "guests", lang+".wasm"))
	if err != nil {
		tb.Fatalf("the kits' modules are committed: %v", err)
	}
	return b
}

// loadGuest loads it as trusted.
func loadGuest(tb testing.TB, h *Host, g guest, settings policy.JSON) *Policy {
	tb.Helper()
	p, err := h.Load(context.Background(), Module{Name: g.policy, Wasm: g.module, Settings: settings, Trusted: true})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// builtins is the module of the built-in policies.
func builtins(tb testing.TB) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("..", "policies", "builtins.wasm"))
	if err != nil {
		tb.Fatalf("the built-in policies are committed: %v", err)
	}
	return b
}

// nasty adds up every byte and global that it starts with and the size of its
// memory, answers with that, overwrites all of it, and grows.
func nasty() []byte {
	m := &w.Module{}
	m.Memory(2, 200)
	m.Export("memory", w.Memory, 0)
	m.Finish()
	n := m.Global(w.I32, true, w.I32Const(7))
	f := m.Global(w.F64, true, w.Op(0x44, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f))
	m.Table(w.FuncRef, 2, -1)
	m.Elem(0, 0, 1)
	m.Data(5000, []byte("hello"))
	// locals: 2 sum, 3 address
	sum := w.Loop(
		w.LocalGet(2), w.I32Const(31), w.Op(w.I32Mul), w.LocalGet(3), w.Mem(0x28, 2, 0), w.Op(w.I32Add), w.LocalSet(2),
		w.LocalGet(3), w.I32Const(4), w.Op(w.I32Add), w.LocalTee(3),
		w.MemorySize(), w.I32Const(16), w.Op(w.I32Shl), w.Op(w.I32LtU), w.BrIf(0))
	m.Decide([]byte{w.I32, w.I32}, sum,
		w.LocalGet(2), w.GlobalGet(n), w.Op(w.I32Xor), w.GlobalGet(f), w.Op(0xaa), w.Op(w.I32Add), // i32.trunc_f64_s
		w.MemorySize(), w.I32Const(1000003), w.Op(w.I32Mul), w.Op(w.I32Add), w.LocalSet(2),
		w.GlobalGet(n), w.I32Const(1), w.Op(w.I32Add), w.GlobalSet(n),
		w.GlobalGet(f), w.GlobalGet(f), w.Op(0xa0), w.GlobalSet(f),
		w.LocalGet(1), w.I32Const(3), w.Op(0x70), w.Op(w.I32Eqz), // every third length grows
		w.If(w.I32Const(3), w.MemoryGrow(), w.Op(w.Drop)),
		w.I32Const(0), w.I32Const(170), w.MemorySize(), w.I32Const(16), w.Op(w.I32Shl), w.Bulk(11, 0),
		w.I32Const(0), w.LocalGet(2), w.Mem(0x36, 2, 0),
		w.LocalGet(1), w.I32Const(7), w.Op(0x70), w.Op(w.I32Eqz), // every seventh traps
		w.If(w.Op(w.Unreachable)),
		w.I64Const(4))
	return m.Bytes()
}

// randomInput is an input of about size bytes in which mark stands often.
func randomInput(r *rand.Rand, size int, mark string) policy.Input {
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

// tableSetter answers with what it finds in its table, and changes that.
func tableSetter() []byte {
	m := w.Policy().Finish()
	zero := m.Func(nil, []byte{w.I32}, w.I32Const('0'))
	one := m.Func(nil, []byte{w.I32}, w.I32Const('1'))
	m.Table(w.FuncRef, 1, -1)
	m.Elem(0, zero)
	m.ElemRaw(append([]byte{3, 0, 1}, w.U32(one)...)...) // declares
	m.Decide(nil,
		w.I32Const(w.AnswerAt), w.I32Const(0), w.CallIndirect(m.Type(nil, []byte{w.I32}), 0), w.Mem(0x3a, 0, 0),
		w.I32Const(0), w.Op(0xd2), w.U32(one), w.Op(0x26, 0), w.Answer(1))
	return m.Bytes()
}

// cacheDir is shared by the tests of one run, so that each module is compiled
// once.
func cacheDir(tb testing.TB) string {
	tb.Helper()
	sharedCache.Do(func() { sharedDir, sharedErr = os.MkdirTemp("", "moot-plugins-test-") })
	if sharedErr != nil {
		tb.Fatal(sharedErr)
	}
	return sharedDir
}

var (
	sharedCache sync.Once
	sharedDir   string
	sharedErr   error
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if sharedDir != "" {
		_ = os.RemoveAll(sharedDir)
	}
	os.Exit(code)
}
