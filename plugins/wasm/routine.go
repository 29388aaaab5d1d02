package wasm

import "slices"

// A routine is a function as Go's compiler writes it:
//
//	entry ... loop block block ... local.get PC_B br_table end unit 0 end unit 1 ... end unit n end rest
//
// A unit is what stands between the ends of two of those blocks; each is a
// place to jump to. PC_B is the parameter. Without jumps there is no loop, and
// the last unit ends where the function does.
type routine struct {
	locals []byte // declarations, without their count
	groups int
	own    int // locals, the parameter included
	entry  []instr
	units  [][]instr
	rest   []instr
	table  []int // PC_B to unit

	cold    []coldBlock
	fresh   []byte // types of locals of ours
	regions []region
}

// Locals of every function.
const (
	pcB   = 0
	stack = 1 // the stack pointer, a copy of global 0
)

// ours returns the number of a new local.
func (r *routine) ours(typ byte) int64 {
	r.fresh = append(r.fresh, typ)
	return int64(r.own + len(r.fresh) - 1)
}

// readRoutine takes a body apart, if it is one that Go wrote.
func readRoutine(b []byte) (*routine, bool) {
	c := cursor{b: b, fn: -1}
	r := &routine{groups: int(c.u32()), own: 1}
	start := c.p
	for n := r.groups; n > 0 && c.more(); n-- {
		r.own += int(c.u32())
		c.byte()
	}
	r.locals = b[start:c.p]
	code := c.readInstrs()
	if c.failed() {
		return nil, false
	}
	at := slices.IndexFunc(code, func(i instr) bool { return i.op == opBrTable })
	if at < 2 || at+2 > len(code) || code[at-1] != (instr{op: opLocalGet, arg: pcB}) || code[at+1].op != opEnd {
		return nil, false
	}
	r.readTable(b, int(code[at].arg))
	blocks := slices.Max(r.table) + 1
	first := at - 1 - blocks
	if first < 0 || slices.ContainsFunc(code[first:at-1], func(i instr) bool { return i != (instr{op: opBlock, arg: blockEmpty}) }) {
		return nil, false
	}
	r.entry = code[:first]
	loops := first > 0 && code[first-1] == (instr{op: opLoop, arg: blockEmpty})
	if loops {
		r.entry = code[:first-1]
	}
	return r, r.isEntry() && r.cut(code[at+2:], blocks, loops) && r.lift(loops)
}

// isEntry reports whether the entry is what all functions begin with.
func (r *routine) isEntry() bool {
	e := r.entry
	if len(e) < 2 || e[0] != (instr{op: opGlobalGet}) || e[1] != (instr{op: opLocalSet, arg: stack}) {
		return false
	}
	for _, i := range e[2:] {
		if i != (instr{op: opBlock, arg: blockEmpty}) {
			return false
		}
	}
	return len(e) <= 3
}

// readTable reads the units that the values of PC_B stand for.
func (r *routine) readTable(b []byte, at int) {
	c := cursor{b: b, p: at}
	for n := c.u32() + 1; n > 0 && !c.failed(); n-- {
		r.table = append(r.table, int(c.u32()))
	}
}

// cut finds the units, as many as there are blocks.
func (r *routine) cut(code []instr, blocks int, loops bool) bool {
	if !loops && blocks == 1 {
		return r.cutLast(code)
	}
	from, depth := 0, 0
	for at, i := range code {
		switch i.op {
		case opBlock, opLoop, opIf:
			depth++
		case opEnd:
			if depth > 0 {
				depth--
				continue
			}
			r.units = append(r.units, code[from:at])
			from = at + 1
			if loops && len(r.units) == blocks {
				r.rest = code[from:]
				return true
			}
			if !loops && len(r.units) == blocks-1 {
				return r.cutLast(code[from:])
			}
		}
	}
	return false
}

// cutLast takes the last unit of a function without a loop: all that stands
// before the end of the frame around the units, or of the function.
func (r *routine) cutLast(code []instr) bool {
	depth := 0
	for at, i := range code {
		switch i.op {
		case opBlock, opLoop, opIf:
			depth++
		case opEnd:
			if depth--; depth < 0 {
				r.units, r.rest = append(r.units, code[:at]), code[at:]
				return true
			}
		}
	}
	return false
}

// unitOf is the unit that a value of PC_B stands for; the last of the table is
// for all beyond it.
func (r *routine) unitOf(pcb int64) int { return r.table[min(pcb, int64(len(r.table)-1))] }

// lift puts one instruction in place of each jump, and reports whether PC_B and
// the blocks around serve nothing else.
func (r *routine) lift(loops bool) bool {
	last := len(r.units) - 1
	for u, code := range r.units {
		out := make([]instr, 0, len(code))
		depth, around := int64(0), int64(last-u) // frames in the unit, blocks around it
		for at := 0; at < len(code); at++ {
			i := code[at]
			switch i.op {
			case opNop:
				continue
			case opBlock, opLoop, opIf:
				depth++
			case opEnd:
				depth--
			case opElse:
				if depth == 0 {
					return false
				}
			case opBrTable:
				return false
			case opBr, opBrIf:
				to := i.arg - depth - around
				if i.arg < depth {
					break
				}
				if loops {
					to-- // the loop has been looked at where the jump began
				}
				if to < 0 {
					return false
				}
				i = instr{op: goOut, arg: to}
				if code[at].op == opBrIf {
					i.op = goOutIf
				}
			case opLocalTee:
				if i.arg == pcB {
					return false
				}
			case opI32Const:
				if at+2 < len(code) && loops && i.arg >= 0 && code[at+1] == (instr{op: opLocalSet, arg: pcB}) && code[at+2] == (instr{op: opBr, arg: depth + around}) {
					i = instr{op: goJump, arg: i.arg}
					at += 2
				}
			case opLocalSet, opLocalGet:
				if i.arg == pcB && !isScratch(code, at) && !isScratch(code, at-2) {
					return false
				}
			}
			out = append(out, i)
		}
		r.units[u] = out
	}
	return true
}

// isScratch reports whether at is where PC_B serves to swap two operands of an
// indirect call.
func isScratch(code []instr, at int) bool {
	return at >= 0 && at+3 < len(code) && code[at] == (instr{op: opLocalSet, arg: pcB}) && code[at+1].op == opI32Const &&
		code[at+2] == (instr{op: opLocalGet, arg: pcB}) && code[at+3].op == opCallIndirect
}
