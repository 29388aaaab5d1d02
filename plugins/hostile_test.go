package plugins

import (
	"math/rand"
	"strings"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

// A hostile module and how it has to end: refused by Load with a code, or in
// its first decision with a code; "" and "" is an answer that does no harm.
type hostile struct {
	name      string
	load, run string
	module    func() []byte
}

const spoken = w.Spoken

// decides is a policy with this decide; answer lies at w.AnswerAt.
func decides(answer string, locals []byte, code ...[]byte) func() []byte {
	return func() []byte {
		m := w.Policy().Finish()
		m.Data(w.AnswerAt, []byte(answer))
		m.Decide(locals, code...)
		return m.Bytes()
	}
}

// pages is decides with so many pages of memory.
func pages(n uint32, code ...[]byte) func() []byte {
	return func() []byte {
		m := &w.Module{}
		m.Memory(n, -1)
		m.Export("memory", w.Memory, 0)
		m.Finish()
		m.Decide([]byte{w.I32, w.I64}, code...)
		return m.Bytes()
	}
}

func module(build func(m *w.Module)) func() []byte {
	return func() []byte {
		m := w.Policy()
		build(m)
		return m.Bytes()
	}
}

func answers(s string) func() []byte { return func() []byte { return w.Answering(s) } }

var (
	zero64  = w.I64Const(0)
	drop    = w.Op(w.Drop)
	inc     = cat(w.LocalGet(2), w.I32Const(1), w.Op(w.I32Add), w.LocalSet(2))
	forever = w.Loop(w.Br(0))
	fill64K = cat(w.I32Const(0), w.I32Const(7), w.I32Const(65536), w.Bulk(11, 0))
)

// hostileModules are those of reliability.md and of the prototypes.
var hostileModules = []hostile{
	{"infinite-loop", "", CodeFuel, decides("", nil, forever, zero64)},
	{"start-loop", CodeInit, "", module(func(m *w.Module) {
		m.Finish()
		m.Start(m.Func(nil, nil, forever))
		m.Decide(nil, zero64)
	})},
	{"initialize-loop", CodeInit, "", module(func(m *w.Module) {
		m.Finish()
		m.Export("_initialize", w.Func, m.Func(nil, nil, forever))
		m.Decide(nil, zero64)
	})},
	{"configure-loop", CodeInit, "", module(func(m *w.Module) {
		m.Finish()
		m.Export("roompolicy_configure", w.Func, m.Func([]byte{w.I32, w.I32}, []byte{w.I32}, forever, w.I32Const(1)))
		m.Decide(nil, zero64)
	})},
	{"grow-until-refused", "", "", decides(spoken, nil,
		w.Loop(w.I32Const(1), w.MemoryGrow(), w.I32Const(-1), w.Op(w.I32Ne), w.BrIf(0)), w.Answer(len(spoken)))},
	{"grow-big", "", "", decides(spoken, nil, w.I32Const(65000), w.MemoryGrow(), drop, w.Answer(len(spoken)))},
	{"grow-refused-for-ever", "", CodeFuel, decides("", nil, w.Loop(w.I32Const(65000), w.MemoryGrow(), drop, w.Br(0)), zero64)},
	{"60000-pages", CodeLimits, "", pages(60_000, zero64)},
	{"65536-pages", CodeLimits, "", pages(65_536, zero64)},
	{"1000-pages", CodeLimits, "", pages(1000, zero64)}, // over this policy's 256
	{"1000-pages-no-snapshot", CodeLimits, "", func() []byte {
		m := &w.Module{}
		m.Memory(1000, -1)
		m.Export("memory", w.Memory, 0)
		m.Finish()
		m.Table(w.FuncRef, 1, -1)
		m.Decide(nil, w.I32Const(0), w.Op(0xd0, w.FuncRef), w.Op(0x26, 0), zero64) // it sets a table
		return m.Bytes()
	}},
	{"tables-4G-cut", CodeMalformed, "", func() []byte { return []byte(w.Header + "\x04\x04\xff\xff\xff\xff") }}, // the length has a fifth byte
	{"recursion", "", CodeDepth, module(func(m *w.Module) {
		m.Finish()
		self := uint32(2) // behind the marker and alloc
		m.Decide(nil, w.LocalGet(0), w.LocalGet(1), w.Call(self))
	})},
	{"recursion-8-params", "", CodeDepth, module(func(m *w.Module) {
		m.Finish()
		self, eight := uint32(2), w.Repeat(8, w.Op(w.I64))
		m.Func(eight, nil, w.LocalGet(0), w.LocalGet(1), w.LocalGet(2), w.LocalGet(3), w.LocalGet(4), w.LocalGet(5), w.LocalGet(6), w.LocalGet(7), w.Call(self))
		m.Decide(nil, w.Repeat(8, zero64), w.Call(self), zero64)
	})},
	{"recursion-indirect", "", CodeDepth, module(func(m *w.Module) {
		m.Finish()
		m.Table(w.FuncRef, 1, -1)
		m.Elem(0, 2)
		m.Decide(nil, w.LocalGet(0), w.LocalGet(1), w.I32Const(0), w.CallIndirect(m.Type([]byte{w.I32, w.I32}, []byte{w.I64}), 0))
	})},
	{"unreachable", "", CodeTrap, decides("", nil, w.Op(w.Unreachable))},
	{"out-of-bounds", "", CodeTrap, decides("", nil, w.I32Const(-4), w.Mem(0x28, 2, 0), drop, zero64)},
	{"divide-by-zero", "", CodeTrap, decides("", nil, w.I32Const(1), w.I32Const(0), w.Op(w.I32DivS), drop, zero64)},
	{"bad-indirect", "", CodeTrap, module(func(m *w.Module) {
		m.Finish()
		m.Table(w.FuncRef, 1, -1)
		m.Decide(nil, w.I32Const(7), w.CallIndirect(m.Type(nil, nil), 0), zero64)
	})},
	{"answer-2GB", "", CodeOutput, decides("", nil, w.I64Const(64<<32|0x7fffffff))},
	{"answer-outside", "", CodeOutput, decides("", nil, w.I64Const(0x7fff0000<<32|100))},
	{"answer-nothing", "", CodeTrap, decides("", nil, zero64)},
	{"log-flood", "", CodeFuel, module(func(m *w.Module) {
		log := m.Import("roompolicy", "log", []byte{w.I32, w.I32, w.I32}, nil)
		m.Finish()
		m.Decide(nil, w.Loop(w.I32Const(1), w.I32Const(0), w.I32Const(60000), w.Call(log), w.Br(0)), zero64)
	})},
	{"log-straight", "", CodeFuel, module(func(m *w.Module) {
		log := m.Import("roompolicy", "log", []byte{w.I32, w.I32, w.I32}, nil)
		m.Finish()
		m.Decide(nil, w.Repeat(5000, w.I32Const(1), w.I32Const(0), w.I32Const(60000), w.Call(log)), zero64)
	})},
	{"random-flood", "", CodeFuel, func() []byte {
		m := &w.Module{}
		m.Memory(256, -1)
		m.Export("memory", w.Memory, 0)
		random := m.Import("wasi_snapshot_preview1", "random_get", []byte{w.I32, w.I32}, []byte{w.I32})
		m.Finish()
		m.Decide(nil, w.Loop(w.I32Const(0), w.I32Const(16<<20-1), w.Call(random), drop, w.Br(0)), zero64)
		return m.Bytes()
	}},
	{"fill-16MiB", "", CodeFuel, pages(256, w.Loop(w.I32Const(0), w.I32Const(7), w.I32Const(16<<20), w.Bulk(11, 0), w.Br(0)), zero64)},
	{"copy-8MiB", "", CodeFuel, pages(256, w.Loop(w.I32Const(0), w.I32Const(8<<20), w.I32Const(8<<20), w.Bulk(10, 0, 0), w.Br(0)), zero64)},
	{"chase-16MiB", "", CodeFuel, func() []byte { return chase(256) }},
	{"start-loop-compiled", CodeInit, "", startCompiled},
	{"no-decide", CodeABI, "", module(func(m *w.Module) { m.Finish() })},
	{"no-memory-export", CodeABI, "", func() []byte {
		m := &w.Module{}
		m.Memory(1, -1)
		m.Finish()
		m.Decide(nil, zero64)
		return m.Bytes()
	}},
	{"alloc-imported", CodeABI, "", module(func(m *w.Module) {
		closes := m.Import("wasi_snapshot_preview1", "fd_close", []byte{w.I32}, []byte{w.I32})
		m.Export("roompolicy_abi_1", w.Func, m.Func(nil, nil))
		m.Export("roompolicy_alloc", w.Func, closes)
		m.Decide(nil, zero64)
	})},
	{"configure-imported", CodeABI, "", module(func(m *w.Module) {
		args := m.Import("wasi_snapshot_preview1", "args_get", []byte{w.I32, w.I32}, []byte{w.I32})
		m.Finish()
		m.Export("roompolicy_configure", w.Func, args)
		m.Decide(nil, zero64)
	})},
	{"wrong-signature", CodeSignature, "", module(func(m *w.Module) {
		m.Finish()
		m.Export("roompolicy_decide", w.Func, m.Func([]byte{w.I32}, []byte{w.I64}, zero64))
	})},
	{"path-open", CodeImports, "", module(func(m *w.Module) {
		m.Import("wasi_snapshot_preview1", "path_open", []byte{w.I32, w.I32, w.I32, w.I32, w.I32, w.I64, w.I64, w.I32, w.I32}, []byte{w.I32})
		m.Finish()
		m.Decide(nil, zero64)
	})},
	{"import-other-type", CodeImports, "", module(func(m *w.Module) {
		m.Import("wasi_snapshot_preview1", "fd_write", []byte{w.I32}, []byte{w.I32})
		m.Finish()
		m.Decide(nil, zero64)
	})},
	{"import-memory", CodeImports, "", func() []byte {
		m := &w.Module{}
		m.ImportRaw("env", "memory", w.Memory, 0, 1)
		m.Export("memory", w.Memory, 0)
		m.Finish()
		m.Decide(nil, zero64)
		return m.Bytes()
	}},
	{"table-100M", CodeLimits, "", table(100_000_000)},
	{"table-4G", CodeLimits, "", table(1<<32 - 1)},
	{"table-fill-loop", "", CodeFuel, func() []byte {
		m := w.Policy().Finish()
		m.Table(w.ExternRef, 100_000, -1)
		m.Decide(nil, w.Loop(w.I32Const(0), w.Op(0xd0, w.ExternRef), w.I32Const(100_000), w.Bulk(17, 0), w.Br(0)), zero64)
		return m.Bytes()
	}},
	{"table-grow", CodeFeatures, "", func() []byte {
		m := w.Policy().Finish()
		m.Table(w.ExternRef, 1, -1)
		m.Decide(nil, w.Op(0xd0, w.ExternRef), w.I32Const(10_000_000), w.Bulk(15, 0), drop, zero64)
		return m.Bytes()
	}},
	{"exponential-calls", "", CodeFuel, module(func(m *w.Module) {
		m.Finish()
		f := m.Func(nil, nil)
		for range 34 {
			f = m.Func(nil, nil, w.Call(f), w.Call(f))
		}
		m.Decide(nil, w.Call(f), zero64)
	})},
	{"fills-2000", "", CodeFuel, pages(256, w.Repeat(2000, w.I32Const(0), w.I32Const(7), w.I32Const(16<<20), w.Bulk(11, 0)), zero64)},
	{"fills-20000", CodeCompile, "", pages(1, w.Repeat(20_000, fill64K), zero64)},
	{"functions-60000", "", "", module(func(m *w.Module) {
		m.Finish()
		m.Data(w.AnswerAt, []byte(spoken))
		for range 60_000 {
			m.Func(nil, []byte{w.I32}, w.I32Const(1234))
		}
		m.Decide(nil, w.Answer(len(spoken)))
	})},
	{"functions-1M", CodeLimits, "", module(func(m *w.Module) {
		m.Finish()
		for range 1_000_000 {
			m.Func(nil, nil)
		}
		m.Decide(nil, zero64)
	})},
	{"blocks-900", "", "", decides(spoken, nil, w.Repeat(900, w.Op(2, w.Empty)), w.Repeat(900, w.Op(w.End)), w.Answer(len(spoken)))},
	{"blocks-5000", CodeLimits, "", decides("", nil, w.Repeat(5000, w.Op(2, w.Empty)), w.Repeat(5000, w.Op(w.End)), zero64)},
	{"giant-function", "", "", decides(spoken, []byte{w.I32}, w.Repeat(128_000, inc), w.Answer(len(spoken)))}, // 900 kB
	{"locals-49000", "", "", func() []byte {
		m := w.Policy().Finish()
		m.Data(w.AnswerAt, []byte(spoken))
		body := cat(w.U32(1), w.U32(49_000), w.Op(w.I64), w.Answer(len(spoken)), w.Op(w.End))
		m.Export("roompolicy_decide", w.Func, m.Body([]byte{w.I32, w.I32}, []byte{w.I64}, body))
		return m.Bytes()
	}},
	{"locals-4G", CodeLimits, "", locals(4_000_000_000, 1)},
	{"locals-in-200", CodeLimits, "", locals(49_999, 200)},
	{"recursion-with-locals", "", CodeDepth, func() []byte {
		m := w.Policy().Finish()
		self := uint32(2)
		body := cat(w.U32(1), w.U32(10_000), w.Op(w.I64), w.LocalGet(0), w.LocalGet(1), w.Call(self), w.Op(w.End))
		m.Export("roompolicy_decide", w.Func, m.Body([]byte{w.I32, w.I32}, []byte{w.I64}, body))
		return m.Bytes()
	}},
	{"br-table-4096", "", "", decides(spoken, nil, w.Block(w.I32Const(3), w.BrTable(make([]uint32, 4096)...)), w.Answer(len(spoken)))},
	{"br-table-20000", CodeLimits, "", decides("", nil, w.Block(w.I32Const(0), w.BrTable(make([]uint32, 20_000)...)), zero64)},
	{"br-table-200000", CodeLimits, "", decides("", nil, w.Block(w.I32Const(0), w.BrTable(make([]uint32, 200_000)...)), zero64)},
	{"data-2000", "", "", module(func(m *w.Module) {
		m.Finish()
		for range 2000 {
			m.Data(9, []byte("x"))
		}
		m.Data(w.AnswerAt, []byte(spoken))
		m.Decide(nil, w.Answer(len(spoken)))
	})},
	{"data-outside", CodeInit, "", module(func(m *w.Module) { m.Finish(); m.Data(65536, []byte("x")); m.Decide(nil, zero64) })},
	{"names-4G", "", "", module(func(m *w.Module) {
		m.Finish()
		m.Data(w.AnswerAt, []byte(spoken))
		m.Decide(nil, w.Answer(len(spoken)))
		m.Custom("name", cat([]byte{1}, w.U32(5), w.U32(1<<32-1)))
	})},
	{"local-names-4G", "", "", module(func(m *w.Module) {
		m.Finish()
		m.Data(w.AnswerAt, []byte(spoken))
		m.Decide(nil, w.Answer(len(spoken)))
		m.Custom("name", cat([]byte{2}, w.U32(7), w.U32(1), w.U32(0), w.U32(1<<32-1)))
	})},
	{"empty", CodeMalformed, "", func() []byte { return nil }},
	{"bad-magic", CodeMalformed, "", func() []byte { return []byte("\x00asx\x01\x00\x00\x00") }},
	{"bad-version", CodeMalformed, "", func() []byte { return []byte("\x00asm\x09\x00\x00\x00") }},
	{"truncated", CodeMalformed, "", func() []byte { b := w.Answering(spoken); return b[:len(b)-len(spoken)/2] }},
	{"random-bytes", CodeMalformed, "", func() []byte {
		b := []byte(w.Header)
		r := rand.New(rand.NewSource(1))
		for range 4000 {
			b = append(b, byte(r.Intn(256)))
		}
		return b
	}},
	{"fifteen-bytes", CodeLimits, "", func() []byte { return append([]byte(w.Header), w.Section(3, w.U32(1<<32-1))...) }},
	{"steals-fuel", CodeMalformed, "", decides("", nil, w.Loop(w.I64Const(1_000_000), w.GlobalSet(8), w.Br(0)), zero64)},
	{"steals-fuel-type", CodeMalformed, "", decides("", nil, w.Loop(w.I64Const(1_000_000), w.GlobalSet(0), w.Br(0)), zero64)},
	{"invalid-type", CodeMalformed, "", decides("", nil, w.I32Const(1))},
	{"abi-999", CodeABI, "", func() []byte {
		m := w.Policy()
		m.Export("roompolicy_abi_999", w.Func, m.Func(nil, nil))
		return m.Bytes()
	}},
	{"two-memory-exports", CodeABI, "", module(func(m *w.Module) { m.Export("memory", w.Memory, 0); m.Finish(); m.Decide(nil, zero64) })},
	{"two-memories", CodeLimits, "", func() []byte { m := w.Policy(); m.Memory(1, -1); m.Finish(); m.Decide(nil, zero64); return m.Bytes() }},
	{"memory64", CodeFeatures, "", func() []byte { m := &w.Module{}; m.MemoryRaw(4, 1); return m.Bytes() }},
	{"threads", CodeFeatures, "", func() []byte { m := &w.Module{}; m.MemoryRaw(3, 1, 1); return m.Bytes() }},
	{"atomics", CodeFeatures, "", decides("", nil, w.Op(0xfe, 0x03, 0), zero64)},
	{"simd", "", "", decides(spoken, nil, cat([]byte{0xfd, 12}, make([]byte, 16), []byte{0xfd, 0x60}), drop, w.Answer(len(spoken)))},
	{"exit", "", CodeTrap, module(func(m *w.Module) {
		exit := m.Import("wasi_snapshot_preview1", "proc_exit", []byte{w.I32}, nil)
		m.Finish()
		m.Decide(nil, w.I32Const(0), w.Call(exit), zero64)
	})},
	{"alloc-refuses", "", CodeMemory, func() []byte {
		m := w.Policy()
		m.Export("roompolicy_abi_1", w.Func, m.Func(nil, nil))
		m.Export("roompolicy_alloc", w.Func, m.Func([]byte{w.I32}, []byte{w.I32}, w.I32Const(0)))
		m.Decide(nil, zero64)
		return m.Bytes()
	}},
	{"alloc-outside", "", CodeMemory, func() []byte {
		m := w.Policy()
		m.Export("roompolicy_abi_1", w.Func, m.Func(nil, nil))
		m.Export("roompolicy_alloc", w.Func, m.Func([]byte{w.I32}, []byte{w.I32}, w.I32Const(-8)))
		m.Decide(nil, zero64)
		return m.Bytes()
	}},
	{"json-deep", "", CodeOutput, answers(`{"action":"speak","agent":"a","state":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`)},
	{"json-twice", "", CodeOutput, answers(`{"action":"speak","agent":"a","agent":"a"}`)},
	{"json-case", "", CodeOutput, answers(`{"action":"speak","Agent":"a"}`)},
	{"json-utf8", "", CodeOutput, answers("{\"action\":\"decline\",\"reason\":\"\xff\"}")},
	{"json-1e400", "", CodeOutput, answers(`{"action":"speak","agent":"a","confidence":1e400}`)},
	{"json-trailing", "", CodeOutput, answers(spoken + "x")},
	{"no-reason", "", CodeOutput, answers(`{"action":"finish"}`)},
	{"ghost", "", CodeChoice, answers(`{"action":"speak","agent":"zoe"}`)},
	{"ineligible", "", CodeChoice, answers(`{"action":"speak","agent":"b"}`)},
	{"prototype-name", "", CodeChoice, answers(`{"action":"speak","agent":"constructor"}`)},
	{"long-id", "", CodeOutput, answers(`{"action":"speak","agent":"` + strings.Repeat("a", 1<<20) + `"}`)},
	{"state-too-big", "", CodeState, answers(`{"action":"speak","agent":"a","state":"` + strings.Repeat("a", 65_536) + `"}`)},
	{"ansi-and-bidi", "", "", answers(`{"action":"decline","reason":"\u001b[31mred\u202e <b>x</b>"}`)},
	{"differs-by-calls", "", "", w.Counting},
	{"nan-payload", "", "", decides(spoken, nil, w.Op(0x44, 0, 0, 0, 0, 0, 0, 0, 0), w.Op(0x44, 0, 0, 0, 0, 0, 0, 0, 0), w.Op(0xa3, 0xbd), // 0/0, its bits
		w.I64Const(0x7ff8000000000000), w.Op(0x51), w.Op(w.I32Eqz, 4, w.Empty, w.Unreachable, w.End), w.Answer(len(spoken)))},
}

// table is a policy with a table of so many elements.
func table(n uint32) func() []byte {
	return func() []byte {
		m := w.Policy().Finish()
		m.Table(w.FuncRef, n, -1)
		m.Decide(nil, zero64)
		return m.Bytes()
	}
}

// locals is a policy with functions that claim locals.
func locals(n uint32, funcs int) func() []byte {
	return func() []byte {
		m := w.Policy().Finish()
		for range funcs {
			m.Body(nil, nil, cat(w.U32(1), w.U32(n), w.Op(w.I64, w.End)))
		}
		m.Decide(nil, zero64)
		return m.Bytes()
	}
}

// startCompiled has a loop in the start function of a module that cannot start from
// an image, so that it runs compiled.
func startCompiled() []byte {
	m := &w.Module{}
	m.Memory(256, -1)
	m.Export("memory", w.Memory, 0)
	m.Finish()
	m.Table(w.FuncRef, 1, -1)
	m.Start(m.Locals(nil, nil, []byte{w.I32}, w.I32Const(0), w.Op(0xd0, w.FuncRef), w.Op(0x26, 0), forever))
	m.Decide(nil, zero64)
	return m.Bytes()
}

// chase follows pointers through all pages of a memory for ever, so that every
// load misses the processor's cache.
func chase(n uint32) []byte {
	// for i := 0; i < n<<16; i += 64 { store(i, (i*odd + c) & mask) }, a full cycle of lines
	lines := int32(n<<16) / 64
	next := cat(w.LocalGet(2), w.I32Const(1664525*4+1), w.Op(w.I32Mul), w.I32Const(1013904223), w.Op(w.I32Add), w.I32Const(lines-1), w.Op(w.I32And))
	m := &w.Module{}
	m.Memory(n, -1)
	m.Export("memory", w.Memory, 0)
	m.Finish()
	m.Decide([]byte{w.I32, w.I64},
		w.Loop(w.LocalGet(2), w.I32Const(6), w.Op(w.I32Shl), next, w.I32Const(6), w.Op(w.I32Shl), w.Mem(0x36, 2, 0),
			w.LocalGet(2), w.I32Const(1), w.Op(w.I32Add), w.LocalSet(2), w.LocalGet(2), w.I32Const(lines), w.Op(w.I32LtU), w.BrIf(0)),
		w.I32Const(0), w.LocalSet(2),
		w.Loop(w.LocalGet(2), w.Mem(0x28, 2, 0), w.LocalSet(2), w.Br(0)), w.I64Const(0))
	return m.Bytes()
}
