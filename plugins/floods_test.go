package plugins

import (
	"bytes"
	"encoding/binary"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

// A flood is a policy that repeats one host call, or one instruction that leaves
// compiled code or is slow, until it is ended.
type flood struct {
	name   string
	module func() []byte
}

// Where a flood keeps the arguments of its host calls.
const (
	floodVectors = 1 << 15 // 1,024 vectors of WASI, each an address and a length
	floodSubs    = 3 << 14 // 64 subscriptions of poll_oneoff
	floodOut     = 1 << 14
)

// floods are the host calls with the arguments that make them work most, and
// what else was found to be slow for its fuel.
var floods = []flood{
	{"endless", decides("", nil, forever, zero64)},
	{"grow-40000", growing(40_000)},
	{"grow-9999", growing(9999)},
	{"grow-negative", growing(-1)},
	{"grow-0", growing(0)},
	{"grow-1", growing(1)},
	{"log-60000", calls(moduleHost, "log", nil, 1, 0, 60_000)},
	{"log-negative", calls(moduleHost, "log", nil, -1, -1, -1)},
	{"log-nothing", calls(moduleHost, "log", nil, 1, 0, 0)},
	{"log-outside", calls(moduleHost, "log", nil, 1, -1, 1)},
	{"write-1024-empty", calls(wasi, "fd_write", vectors(0, 0), 1, floodVectors, 1024, floodOut)},
	{"write-1024-bytes", calls(wasi, "fd_write", vectors(0, 1), 2, floodVectors, 1024, floodOut)},
	{"write-1024-outside", calls(wasi, "fd_write", vectors(1<<31, 0), 1, floodVectors, 1024, floodOut)},
	{"write-1024-overlapping", calls(wasi, "fd_write", vectors(0, 1<<16-1), 1, floodVectors, 1024, floodVectors)},
	{"write-negative", calls(wasi, "fd_write", nil, 1, -8, -1, -1)},
	{"write-nothing", calls(wasi, "fd_write", nil, 1, 0, 0, 0)},
	{"poll-64", calls(wasi, "poll_oneoff", nil, floodSubs, floodOut, 64, 0)},
	{"poll-64-overlapping", calls(wasi, "poll_oneoff", nil, floodSubs, floodSubs, 64, floodSubs)},
	{"poll-1", calls(wasi, "poll_oneoff", nil, floodSubs, floodOut, 1, 0)},
	{"poll-negative", calls(wasi, "poll_oneoff", nil, -1, -1, -1, -1)},
	{"random-1", calls(wasi, "random_get", nil, floodOut, 1)},
	{"random-65535", calls(wasi, "random_get", nil, 0, 65_535)},
	{"random-negative", calls(wasi, "random_get", nil, -1, -1)},
	{"clock", calls(wasi, "clock_time_get", nil, 0, 0, floodOut)},
	{"resolution", calls(wasi, "clock_res_get", nil, 0, floodOut)},
	{"arguments", calls(wasi, "args_get", nil, 0, 0)},
	{"arguments-sizes", calls(wasi, "args_sizes_get", nil, 0, 4)},
	{"environment", calls(wasi, "environ_get", nil, 0, 0)},
	{"environment-sizes", calls(wasi, "environ_sizes_get", nil, 0, 4)},
	{"read", calls(wasi, "fd_read", nil, 0, -1, -1, -1)},
	{"seek", calls(wasi, "fd_seek", nil, 0, -1, -1, -1)},
	{"close", calls(wasi, "fd_close", nil, -1)},
	{"stat", calls(wasi, "fd_fdstat_get", nil, 1, floodOut)},
	{"set-flags", calls(wasi, "fd_fdstat_set_flags", nil, 1, -1)},
	{"preopened", calls(wasi, "fd_prestat_get", nil, 3, -1)},
	{"preopened-name", calls(wasi, "fd_prestat_dir_name", nil, 3, -1, -1)},
	{"yield", calls(wasi, "sched_yield", nil)},
	{"exit", calls(wasi, "proc_exit", nil, -1)},
	{"ref-func", referring},
	{"fill-64MiB", func() []byte { return bulk(1024, 11, 0, 7, 64<<20) }},
	{"fill-16MiB", func() []byte { return bulk(256, 11, 0, 7, 16<<20) }},
	{"fill-nothing", func() []byte { return bulk(1, 11, 0, 7, 0) }},
	{"copy-8MiB", func() []byte { return bulk(256, 10, 0, 8<<20, 8<<20) }},
	{"copy-overlapping", func() []byte { return bulk(256, 10, 1, 0, 16<<20-1) }},
	{"table-fill", tableFilling},
	{"table-set", tableSetting},
	{"chase-16MiB", func() []byte { return chase(256) }},
	{"chase-64MiB", func() []byte { return chase(1024) }},
	{"recursion", recursing(900, 0)},
	{"recursion-large-frames", recursing(120, 1900)},
	{"branches-4096", branching},
	{"merges-2000", merging},
	{"set-up-each-time", func() []byte { return settingUp(forever, zero64) }},
	{"table-100000", largeTable},
}

// growing asks for more memory for ever.
func growing(pages int32) func() []byte {
	return decides("", nil, w.Loop(w.I32Const(pages), w.MemoryGrow(), drop, w.Br(0)), zero64)
}

// calls is a policy that makes one host call for ever. data lies at floodVectors.
func calls(module, name string, data []byte, args ...int64) func() []byte {
	return func() []byte { return callingWith(module, name, data, true, args) }
}

// callingOnce is a policy that makes one host call and answers.
func callingOnce(module, name string, data []byte, args ...int64) []byte {
	return callingWith(module, name, data, false, args)
}

func callingWith(module, name string, data []byte, endless bool, args []int64) []byte {
	params, results := bytes.Repeat([]byte{w.I32}, len(args)), []byte{w.I32}
	if name == "clock_time_get" || name == "fd_seek" {
		params[1] = w.I64
	}
	if module == moduleHost || name == "proc_exit" {
		results = nil
	}
	m := &w.Module{}
	m.Memory(1, -1)
	m.Export("memory", w.Memory, 0)
	f := m.Import(module, name, params, results)
	m.Finish()
	if data != nil {
		m.Data(floodVectors, data)
	}
	var code []byte
	for i, a := range args {
		if params[i] == w.I64 {
			code = append(code, w.I64Const(a)...)
		} else {
			code = append(code, w.I32Const(int32(a))...)
		}
	}
	code = append(code, w.Call(f)...)
	if results != nil {
		code = append(code, w.Drop)
	}
	if endless {
		code = w.Loop(code, w.Br(0))
	}
	m.Data(w.AnswerAt, []byte(spoken))
	m.Decide(nil, code, w.Answer(len(spoken)))
	return m.Bytes()
}

// vectors are 1,024 equal vectors of fd_write.
func vectors(at, size uint32) []byte {
	one := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, at), size)
	return bytes.Repeat(one, 1024)
}

// withPages starts a policy with so many pages of memory.
func withPages(n uint32) *w.Module {
	m := &w.Module{}
	m.Memory(n, -1)
	m.Export("memory", w.Memory, 0)
	return m.Finish()
}

// referring makes references to a function for ever.
func referring() []byte {
	m := w.Policy().Finish()
	m.Decide(nil, w.Loop(w.Op(0xd2, 0), drop, w.Br(0)), zero64)
	return m.Bytes()
}

// bulk repeats an instruction of bulk memory with these operands.
func bulk(pages, sub uint32, args ...int32) []byte {
	var code []byte
	for _, a := range args {
		code = append(code, w.I32Const(a)...)
	}
	operands := []byte{0}
	if sub == 10 {
		operands = []byte{0, 0}
	}
	m := withPages(pages)
	m.Decide(nil, w.Loop(code, w.Bulk(sub, operands...), w.Br(0)), zero64)
	return m.Bytes()
}

func tableFilling() []byte {
	m := w.Policy().Finish()
	m.Table(w.ExternRef, 100_000, -1)
	m.Decide(nil, w.Loop(w.I32Const(0), w.Op(0xd0, w.ExternRef), w.I32Const(100_000), w.Bulk(17, 0), w.Br(0)), zero64)
	return m.Bytes()
}

func tableSetting() []byte {
	m := w.Policy().Finish()
	m.Table(w.FuncRef, 100, -1)
	m.Decide(nil, w.Loop(w.I32Const(9), w.Op(0xd2, 0), w.Op(0x26, 0), w.Br(0)), zero64)
	return m.Bytes()
}

// recursing calls itself so deep for ever, in frames of so many live locals.
func recursing(depth int32, live int) func() []byte {
	return func() []byte {
		m := w.Policy().Finish()
		locals := bytes.Repeat([]byte{w.I64}, live)
		self := uint32(2) // behind the marker and alloc
		var before, after []byte
		for i := range live {
			local := uint32(1 + i)
			before = append(before, cat(w.LocalGet(0), w.Op(w.I64ExtendU), w.LocalSet(local))...)
			after = append(after, cat(w.LocalGet(local), w.Op(w.I64Eqz), drop)...)
		}
		down := w.If(before, w.LocalGet(0), w.I32Const(1), w.Op(w.I32Sub), w.Call(self), after)
		m.Locals([]byte{w.I32}, nil, locals, w.LocalGet(0), down)
		m.Decide(nil, w.Loop(w.I32Const(depth), w.Call(self), w.Br(0)), zero64)
		return m.Bytes()
	}
}

// branching jumps to one of 4,096 places that no processor can predict.
func branching() []byte {
	labels := make([]uint32, 4096)
	for i := range labels {
		labels[i] = uint32(i % 900)
	}
	next := cat(w.LocalGet(2), w.I32Const(1664525), w.Op(w.I32Mul), w.I32Const(1013904223), w.Op(w.I32Add), w.LocalTee(2))
	m := w.Policy().Finish()
	m.Decide([]byte{w.I32}, w.Loop(
		w.Repeat(900, w.Op(2, w.Empty)), next, w.I32Const(20), w.Op(w.I32ShrU), w.BrTable(labels...), w.Repeat(900, w.Op(w.End)),
		w.Br(0)), zero64)
	return m.Bytes()
}

// merging has paths of which one, never taken, changes 2,000 locals.
func merging() []byte {
	const n = 2000
	m := w.Policy().Finish()
	var change, use []byte
	for i := range uint32(n) {
		change = append(change, cat(w.LocalGet(3+i), w.I64Const(int64(i)), w.Op(w.I64Add), w.LocalSet(3+i))...)
		use = append(use, cat(w.LocalGet(3+i), w.Op(w.I64Xor))...)
	}
	locals := append([]byte{w.I32}, bytes.Repeat([]byte{w.I64}, n)...)
	m.Decide(locals, w.Loop(w.LocalGet(2), w.If(change), w.LocalGet(0), w.BrIf(0)), w.I64Const(0), use)
	return m.Bytes()
}

// settingUp cannot start from a snapshot, its configure is slow, and then it
// decides with this code.
func settingUp(code ...[]byte) []byte {
	count := w.Loop(w.LocalGet(2), w.I32Const(1), w.Op(w.I32Add), w.LocalTee(2), w.I32Const(5_500_000), w.Op(w.I32LtU), w.BrIf(0))
	m := w.Policy().Finish()
	m.Table(w.FuncRef, 1, -1)
	m.Data(w.AnswerAt, []byte(spoken))
	m.Export("roompolicy_configure", w.Func, m.Locals([]byte{w.I32, w.I32}, []byte{w.I32}, []byte{w.I32}, count, w.I32Const(1)))
	m.Decide(nil, w.I32Const(0), w.Op(0xd0, w.FuncRef), w.Op(0x26, 0), cat(code...))
	return m.Bytes()
}

// largeTable has a table that is slow to make, and fails.
func largeTable() []byte {
	m := w.Policy().Finish()
	m.Table(w.FuncRef, 100_000, -1)
	m.Elem(0, make([]uint32, 100_000)...)
	m.Decide(nil, forever, zero64)
	return m.Bytes()
}
