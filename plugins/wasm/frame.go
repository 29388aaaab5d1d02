package wasm

import "slices"

// findFrame finds where the function takes its frame, if it calls others, and
// has a local set there to the stack pointer that they are called with. All that
// the function has on the stack is above that.
func (p *polisher) findFrame() {
	if !slices.ContainsFunc(p.units, func(code []instr) bool {
		for at := range code {
			if callAt(code, at) > 0 {
				return true
			}
		}
		return false
	}) {
		return
	}
	first := p.units[0]
	at := slices.IndexFunc(first, func(i instr) bool { return i.op == opLocalTee && i.arg == stack }) - 3
	if at < 0 || !takesFrame(first[at:]) || callAt(first, at) > 0 || slices.ContainsFunc(first[:at], leadsOn) {
		return
	}
	p.callee, p.taken = p.ours(typeI32), at+len(push)
	p.units[0] = slices.Concat(first[:p.taken], push[:3], []instr{{op: opLocalSet, arg: p.callee}}, first[p.taken:])
}

// leadsOn reports whether an instruction may lead to another unit.
func leadsOn(i instr) bool { return i.op == goJump || i.op == goJumpIf }

// takesFrame reports whether code begins with what takes some of the stack.
func takesFrame(c []instr) bool {
	return len(c) >= len(push) && c[0] == push[0] && c[1].op == opI32Const && c[2] == push[2] && c[3] == push[3] && c[4] == push[4]
}

// callAt returns the place of the call that begins at a place, or 0.
func callAt(code []instr, at int) int {
	n := len(push)
	if at+n >= len(code) || !slices.Equal(code[at:at+n], push) {
		return 0
	}
	end := at + n
	for end < len(code) && plainInCall(code[end]) {
		end++
	}
	if end+2 >= len(code) || code[end].op != opCall && code[end].op != opCallIndirect || !slices.Equal(code[end+1:end+3], popped) {
		return 0
	}
	return end
}

// calls keeps the stack pointer in its local across calls: when a call returns
// it is what it was before. Were the stack moved meanwhile, the call would not
// return here but have all its callers leave.
func (p *polisher) calls(u int, code []instr) []instr {
	for at := range code {
		end := callAt(code, at)
		if end == 0 || u == 0 && at < p.taken {
			continue
		}
		if p.callee == 0 {
			p.callee = p.ours(typeI32)
		}
		begin := code[at : at+len(push)]
		if begin[3].arg = p.callee; p.taken > 0 {
			begin[0] = instr{op: opLocalGet, arg: p.callee}
			begin[1].op, begin[2].op, begin[3].op = opNop, opNop, opNop
		}
		for i := at + len(push); i < end; i++ {
			if code[i] == push[0] {
				code[i].arg = p.callee
			}
		}
		code[end+1].op, code[end+2].op = opNop, opNop
	}
	return without(code, opNop)
}

// plainInCall tells what may stand between the beginning of a call and the
// call.
func plainInCall(i instr) bool {
	switch i.op {
	case opLocalGet, opI32Const, opI64Const, opI64Store, opI64ShrU, opI32WrapI64:
		return true
	case opLocalSet:
		return i.arg != stack
	}
	return false
}
