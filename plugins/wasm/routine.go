package wasm

// An instr is one instruction of a body.
type instr struct {
	op       byte
	from, to int   // in the body
	arg      int64 // label, local, index or constant
}

// A routine is a function as Go's compiler writes it:
//
//	... loop block block ... local.get PC_B br_table end unit 0 end unit 1 end ... unit n end ...
//
// A unit is what stands between the ends of two of those blocks; each is a
// place to jump to. PC_B is the first parameter.
type routine struct {
	b     []byte
	code  []instr
	loop  int   // index of the loop
	after int   // index of what follows its end
	units []int // index of the first instruction of each; and of the end of the last
	table []int // PC_B to unit

	jumps   []jump
	targets []int // by instruction that begins a jump: its index in jumps plus one
	entries []int // PC_B of places that the function can be entered at
	regions []region
	clear   []bool // units that dispatches lead to
}

// A jump is three instructions: a constant, PC_B set to it, a branch to the
// loop.
type jump struct {
	at   int // index of the first
	unit int
	pcb  int
}

const pcB = 0 // the local

// readRoutine takes a body apart, if it is one that Go wrote, with jumps.
func readRoutine(b []byte) (*routine, bool) {
	r := &routine{b: b}
	if !r.decode() {
		return nil, false
	}
	at := 0
	for at < len(r.code) && r.code[at].op != opLoop {
		switch r.code[at].op {
		case opBlock, opGlobalGet, opLocalSet:
			at++
		default:
			return nil, false
		}
	}
	r.loop = at
	blocks := 0
	for at++; at < len(r.code) && r.isEmpty(at, opBlock); at++ {
		blocks++
	}
	if blocks == 0 || at+2 >= len(r.code) || !r.isEmpty(r.loop, opLoop) {
		return nil, false
	}
	get, table, end := r.code[at], r.code[at+1], r.code[at+2]
	if get.op != opLocalGet || get.arg != pcB || table.op != opBrTable || end.op != opEnd || !r.readTable(table, blocks) {
		return nil, false
	}
	return r, r.split(at+3, blocks)
}

// decode reads the instructions.
func (r *routine) decode() bool {
	c := cursor{b: r.b}
	for n := c.u32(); n > 0 && !c.failed(); n-- {
		c.u32()
		c.byte()
	}
	for c.more() {
		i := instr{from: c.p}
		i.op = c.byte()
		if i.arg = c.operand(i.op); c.failed() {
			return false
		}
		i.to = c.p
		r.code = append(r.code, i)
	}
	return !c.failed()
}

// operand passes over what follows an opcode, and returns it if it is one
// number.
func (c *cursor) operand(op byte) int64 {
	switch shapes[op] {
	case none:
	case block: // Go writes no types of blocks but the empty one and single values
		return int64(c.byte())
	case label, local, globalIndex, callee:
		return int64(c.u32())
	case labels:
		for n := c.u32() + 1; n > 0 && !c.failed(); n-- {
			c.u32()
		}
	case indirect, memArg:
		c.u32()
		c.u32()
	case memIndex:
		c.byte()
	case const32, const64:
		return c.sleb()
	case raw4:
		c.take(4)
	case raw8:
		c.take(8)
	case bulkGroup:
		switch sub := c.u32(); sub {
		case 0, 1, 2, 3, 4, 5, 6, 7:
		case bulkMemoryCopy:
			c.take(2)
		case bulkMemoryFill:
			c.byte()
		default:
			c.fail(Unsupported, "instruction 0xfc %d", sub)
		}
	default:
		c.fail(Unsupported, "instruction %#x", op)
	}
	return 0
}

// sleb reads a signed LEB128 number.
func (c *cursor) sleb() (v int64) {
	for shift := 0; shift < 70; shift += 7 {
		b := c.byte()
		v |= int64(b&0x7f) << shift
		if b < 0x80 {
			if shift < 57 && b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	c.fail(Malformed, "number too long")
	return 0
}

func (r *routine) isEmpty(at int, op byte) bool {
	return r.code[at].op == op && r.code[at].arg == blockEmpty
}

// readTable reads the units that the values of PC_B stand for.
func (r *routine) readTable(i instr, blocks int) bool {
	c := cursor{b: r.b, p: i.from + 1}
	for n := c.u32() + 1; n > 0; n-- {
		u := int(c.u32())
		if u >= blocks {
			return false
		}
		r.table = append(r.table, u)
	}
	return !c.failed()
}

// split finds the units.
func (r *routine) split(at, blocks int) bool {
	r.units = append(r.units, at)
	for depth := 0; at < len(r.code); at++ {
		switch r.code[at].op {
		case opBlock, opLoop, opIf:
			depth++
		case opEnd:
			if depth--; depth >= 0 {
				continue
			}
			depth = 0
			r.units = append(r.units, at+1)
			if len(r.units) == blocks+1 {
				r.units[blocks], r.after = at, at+1
				return true
			}
		}
	}
	return false
}

// unitEnd is the index behind the last instruction of unit u.
func (r *routine) unitEnd(u int) int {
	if u == len(r.units)-2 {
		return r.units[u+1]
	}
	return r.units[u+1] - 1
}

// unitOf is the unit that a value of PC_B stands for; the last of the table is
// for all beyond it.
func (r *routine) unitOf(pcb int) int { return r.table[min(pcb, len(r.table)-1)] }

// follow finds the jumps, and reports whether PC_B and the blocks are used for
// nothing else.
func (r *routine) follow() bool {
	r.targets = make([]int, len(r.code))
	for u := range len(r.units) - 1 {
		depth := 0
		for at := r.units[u]; at < r.unitEnd(u); at++ {
			switch i := r.code[at]; i.op {
			case opBlock, opLoop, opIf:
				depth++
			case opEnd:
				depth--
			case opBr, opBrIf:
				toLoop := int64(depth + len(r.units) - 2 - u)
				if i.arg < int64(depth) || i.arg > toLoop {
					continue
				}
				if i.arg < toLoop || i.op == opBrIf || !r.isJump(at) {
					return false
				}
				r.jumps = append(r.jumps, jump{at - 2, u, int(r.code[at-2].arg)})
				r.targets[at-2] = len(r.jumps)
			case opBrTable:
				return false
			case opLocalTee:
				if i.arg == pcB {
					return false
				}
			case opLocalSet, opLocalGet:
				if i.arg == pcB && !r.isJump(at+1) && !r.isScratch(at) && !r.isScratch(at-2) {
					return false
				}
			}
		}
	}
	return true
}

// isJump reports whether a branch is the end of a jump.
func (r *routine) isJump(at int) bool {
	c := r.code
	return at >= 2 && at < len(c) && c[at].op == opBr && c[at-1].op == opLocalSet && c[at-1].arg == pcB && c[at-2].op == opI32Const && c[at-2].arg >= 0
}

// isScratch reports whether at is where PC_B serves to swap two operands of an
// indirect call: local.set PC_B, i32.const 0, local.get PC_B, call_indirect.
func (r *routine) isScratch(at int) bool {
	c := r.code
	return at >= 0 && at+3 < len(c) && c[at].op == opLocalSet && c[at].arg == pcB && c[at+1].op == opI32Const &&
		c[at+2].op == opLocalGet && c[at+2].arg == pcB && c[at+3].op == opCallIndirect
}
