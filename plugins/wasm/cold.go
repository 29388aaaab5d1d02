package wasm

import "slices"

// A coldBlock is a call that ends a function: nil was dereferenced, or the
// stack is too small. Such calls stand in the middle of the code, which they
// make several times as long; here all that stays is a branch.
type coldBlock struct {
	returns int64 // the return address
	callee  int64
	out     int64 // frame around the units that it leaves for
}

// push is how a call begins: with less of the stack.
var push = []instr{
	{op: opLocalGet, arg: stack}, {op: opI32Const, arg: 8}, {op: opI32Sub}, {op: opLocalTee, arg: stack}, {op: opGlobalSet},
}

// popped is how it ends.
var popped = []instr{{op: opGlobalGet}, {op: opLocalSet, arg: stack}}

// cool moves calls of functions that never return out of the way.
func (r *routine) cool(never []int) {
	for u, code := range r.units {
		out := code[:0:0]
		for at := 0; at < len(code); at++ {
			if c, size, ok := coldAt(code[at:], never); ok && len(r.cold) < mostCold {
				out = append(out, instr{op: goColdIf, arg: int64(len(r.cold))})
				r.cold = append(r.cold, c)
				at += size - 1
				continue
			}
			out = append(out, code[at])
		}
		r.units[u] = out
	}
}

// mostCold keeps the nesting of blocks, one for each, within Limits.
const mostCold = 400

// coldAt reports whether code begins with an if that holds nothing but a call
// of a function that never returns.
func coldAt(code []instr, never []int) (c coldBlock, size int, ok bool) {
	n := len(push)
	if size = n + 10; len(code) < size || code[0] != (instr{op: opIf, arg: blockEmpty}) || !slices.Equal(code[1:1+n], push) {
		return c, 0, false
	}
	get, returns, store, zero, call := code[n+1], code[n+2], code[n+3], code[n+4], code[n+5]
	if get != push[0] || returns.op != opI64Const || store != (instr{op: opI64Store, arg: 3}) || zero != (instr{op: opI32Const}) || call.op != opCall ||
		!slices.Contains(never, int(call.arg)) || !slices.Equal(code[n+6:n+8], popped) || code[n+8].op != goOutIf || code[n+9].op != opEnd {
		return c, 0, false
	}
	return coldBlock{returns.arg, call.arg, code[n+8].arg}, size, true
}

// callees returns whom the cold blocks call.
func (r *routine) callees() (all []int64) {
	for _, c := range r.cold {
		if !slices.Contains(all, c.callee) {
			all = append(all, c.callee)
		}
	}
	return all
}

// openCold opens a block in front of each cold block, and one in front of what
// those of one callee share.
func (w *weaver) openCold() {
	for range len(w.callees()) + len(w.cold) {
		w.begin(opBlock, around{label: coldLabel})
	}
}

const coldLabel = -1

// writeCold writes the cold blocks. Each sets the return address and goes to
// what all of the callee share.
func (w *weaver) writeCold() {
	if len(w.cold) == 0 {
		return
	}
	if w.address == 0 {
		w.address = w.ours(typeI64)
	}
	callees := w.callees()
	w.add(instr{op: opUnreachable})
	for n, c := range w.cold {
		w.end()
		w.add(instr{op: opI64Const, arg: c.returns}, instr{op: opLocalSet, arg: w.address})
		w.add(instr{op: opBr, arg: int64(len(w.cold) - 1 - n + slices.Index(callees, c.callee))})
	}
	for _, callee := range callees {
		w.end()
		w.add(push...)
		w.add(push[0], instr{op: opLocalGet, arg: w.address}, instr{op: opI64Store, arg: 3})
		w.add(instr{op: opI32Const}, instr{op: opCall, arg: callee})
		out := w.cold[slices.IndexFunc(w.cold, func(c coldBlock) bool { return c.callee == callee })].out
		w.add(instr{op: opBrIf, arg: int64(len(w.open)) + out}, instr{op: opUnreachable})
	}
}
