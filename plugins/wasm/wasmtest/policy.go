package wasmtest

import "slices"

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
