package wasm

import "slices"

// polish takes out of each unit what the compiler need not have written.
func (r *routine) polish() {
	p := polisher{routine: r, wrapped: map[int64]int64{}, addressed: map[int64]bool{}, kept: map[slot]int64{}, uses: map[slot]int{}}
	for u, code := range r.units {
		code = rewrite(code, joinJumps)
		code = rewrite(code, invert)
		r.units[u] = rewrite(code, leave)
	}
	p.findFrame()
	for u, code := range r.units {
		r.units[u] = addresses(p.calls(u, code))
	}
	p.findPointers()
	p.keep()
	p.pointers()
	for u, code := range r.units {
		r.units[u] = p.looks(u, code)
	}
}

type polisher struct {
	*routine
	callee    int64           // local: the stack pointer of who is called
	taken     int             // place in the first unit behind which it is set once; 0 when it is set for each call
	wrapped   map[int64]int64 // local: the same as an address
	addressed map[int64]bool  // locals of those
	kept      map[slot]int64  // local: what is on the stack
	uses      map[slot]int    // loads and stores

	framed           uint32 // see given
	reach            uint32 // see stackReach
	toFrame, toGiven bool   // pointers are made to parts of the stack
}

// rewrite replaces what a rule finds at the start of code: size instructions,
// 0 for none.
func rewrite(code []instr, rule func(code []instr) (size int, by []instr)) []instr {
	out := make([]instr, 0, len(code))
	for at := 0; at < len(code); {
		size, by := rule(code[at:])
		if size == 0 {
			size, by = 1, code[at:at+1]
		}
		out = append(out, by...)
		at += size
	}
	return out
}

// joinJumps: an if around a jump is a conditional jump; a local that is set to
// itself stays.
func joinJumps(c []instr) (int, []instr) {
	if len(c) >= 3 && c[0] == (instr{op: opIf, arg: blockEmpty}) && c[1].op == goJump && c[2].op == opEnd {
		return 3, []instr{{op: goJumpIf, arg: c[1].arg}}
	}
	if len(c) >= 2 && c[0].op == opLocalGet && c[1] == (instr{op: opLocalTee, arg: c[0].arg}) {
		return 2, c[:1]
	}
	return 0, nil
}

// invert: a comparison that is negated is the opposite one. The engine makes
// one instruction of a comparison and a branch, and six with a negation.
func invert(c []instr) (int, []instr) {
	if len(c) < 2 || c[1] != (instr{op: opI32Eqz}) {
		return 0, nil
	}
	if c[0].op == opI64Eqz {
		return 2, []instr{{op: opI64Const}, {op: opI64Ne}}
	}
	if o := opposite[c[0].op]; o != 0 {
		return 2, []instr{{op: o}}
	}
	return 0, nil
}

// opposite of each comparison; those of order between floats have none.
var opposite = func() (o [256]byte) {
	for _, pair := range [][2]byte{
		{0x46, 0x47}, {0x48, 0x4e}, {0x49, 0x4f}, {0x4a, 0x4c}, {0x4b, 0x4d}, // i32: eq ne, lt ge, gt le
		{0x51, 0x52}, {0x53, 0x59}, {0x54, 0x5a}, {0x55, 0x57}, {0x56, 0x58}, // i64
		{0x5b, 0x5c}, {0x61, 0x62}, // f32, f64: eq ne
	} {
		o[pair[0]], o[pair[1]] = pair[1], pair[0]
	}
	return o
}()

// leave: a function gives back its frame and its return address at once.
func leave(c []instr) (int, []instr) {
	const n = 12
	if len(c) < n || c[0] != push[0] || c[1].op != opI32Const || c[2].op != opI32Add || !slices.Equal(c[3:5], push[3:]) ||
		c[5] != push[0] || c[6].op != opI32Const || c[7].op != opI32Add || !slices.Equal(c[8:10], push[3:]) ||
		c[10].op != opI32Const || c[11].op != opReturn {
		return 0, nil
	}
	return n, []instr{c[0], {op: opI32Const, arg: c[1].arg + c[6].arg}, c[2], c[4], c[10], c[11]}
}

// addresses: what is on the stack is reached from the stack pointer, with the
// distance in the load or store.
func addresses(code []instr) []instr {
	for at := range code {
		if at+5 >= len(code) || code[at] != push[0] || code[at+1].op != opI64ExtendU || code[at+2].op != opI64Const ||
			code[at+3].op != opI64Add || code[at+4].op != opI32WrapI64 || code[at+2].arg < 0 || code[at+2].arg > 1<<24 {
			continue
		}
		if user := userOf(code, at+5); user > 0 {
			code[user].off += uint32(code[at+2].arg)
			for i := at + 1; i < at+5; i++ {
				code[i] = instr{op: opNop}
			}
		}
	}
	return without(code, opNop)
}

// userOf returns the load or store that takes what is on top of the stack at
// an instruction as its address, or 0.
func userOf(code []instr, at int) int {
	for above := 0; at < len(code); at++ {
		pops, pushes, known := effect(code[at].op)
		if !known {
			return 0
		}
		if pops > above {
			if shapes[code[at].op] == memArg && pops == above+1 {
				return at
			}
			return 0
		}
		above += pushes - pops
	}
	return 0
}

// effect is how many values an instruction takes and gives.
func effect(op byte) (pops, pushes int, known bool) {
	switch {
	case op == opNop:
		return 0, 0, true
	case op == opLocalGet, op == opGlobalGet, op >= opI32Const && op <= opF64Const:
		return 0, 1, true
	case op == opLocalSet:
		return 1, 0, true
	case op == opLocalTee:
		return 1, 1, true
	case op == opSelect:
		return 3, 1, true
	case op >= 0x28 && op <= 0x35: // loads
		return 1, 1, true
	case op >= 0x36 && op <= 0x3e: // stores
		return 2, 0, true
	case op == opI32Eqz, op == opI64Eqz, op >= 0x67 && op <= 0x69, op >= 0x79 && op <= 0x7b, op >= 0x8b && op <= 0x91, op >= 0x99 && op <= 0x9f, op >= 0xa7 && op <= 0xc4:
		return 1, 1, true
	case op > opI32Eqz && op < 0xa7:
		return 2, 1, true
	}
	return 0, 0, false
}

// without takes an instruction out.
func without(code []instr, op byte) []instr {
	return slices.DeleteFunc(code, func(i instr) bool { return i.op == op })
}
