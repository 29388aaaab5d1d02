package wasm

// The engine looks at the bounds of memory in front of each load and store,
// which took a third of a Go policy's time. It leaves a look out where it knows
// that the same value of a local, as an address, reached as far in the same
// block or in all that lead to it. So the code is written such that it knows.
// A look is a load that nobody takes: the engine leaves out the load and keeps
// the look.

// looks puts looks into a unit.
func (p *polisher) looks(u int, code []instr) []instr {
	return p.stackLooks(u, p.widest(code))
}

// stackLooks looks at the stack as far as the function ever reaches, in each
// block that uses it. All of that is memory of the frame or of what is above it,
// whichever way the function takes. Where blocks join, a local has to be set to
// itself, or the engine takes its second use for that of another value.
//
// The local for those who are called keeps its value from the start to the end,
// so that what is on the stack is reached from there.
func (p *polisher) stackLooks(u int, code []instr) []instr {
	reach := p.stackReach()
	if reach == 0 {
		return code
	}
	base, below := push[0], uint32(0)
	if p.taken > 0 {
		base, below = instr{op: opLocalGet, arg: p.callee}, slotBytes
	}
	f := frameWalk{framed: u > 0 || p.framed == 0, taken: u > 0}
	out := make([]instr, 0, len(code)+len(code)/8)
	looked := false
	for at, i := range code {
		f.follow(code, at)
		user := 0
		if i == push[0] && f.framed {
			user = userOf(code, at+1)
		}
		if user > 0 {
			code[user].off += below
			i = base
		}
		if i.op == opEnd || i.op == opElse || i.op == opLoop || setsStack(i) && p.taken == 0 {
			looked = false
		}
		if (user > 0 || p.taken > 0 && i == base) && !looked {
			out = append(out, base, instr{op: opLocalSet, arg: base.arg})
			out = appendLook(out, base.arg, reach+below)
			looked = true
		}
		out = append(out, i)
	}
	return out
}

func setsStack(i instr) bool { return (i.op == opLocalSet || i.op == opLocalTee) && i.arg == stack }

// A frameWalk tells where the stack pointer is that of the frame: not before it
// is taken, nor when it is given back, nor where a call of an unknown shape is
// prepared.
type frameWalk struct {
	framed, taken bool
	outer         []bool
}

func (f *frameWalk) follow(code []instr, at int) {
	switch i := code[at]; i.op {
	case opBlock, opLoop, opIf:
		f.outer = append(f.outer, f.framed)
	case opElse:
		f.framed = f.outer[len(f.outer)-1]
	case opEnd:
		f.framed = f.outer[len(f.outer)-1]
		f.outer = f.outer[:len(f.outer)-1]
	case opLocalSet, opLocalTee:
		if i.arg != stack {
			break
		}
		f.framed = f.taken && at > 0 && code[at-1] == popped[0]
		if at >= 3 && !f.taken && takesFrame(code[at-3:]) {
			f.framed, f.taken = true, true
		}
	}
}

// stackReach is how far from the stack pointer the function loads and stores.
func (p *polisher) stackReach() uint32 {
	if p.reach == 0 {
		for _, code := range p.units {
			for at, i := range code {
				if i != push[0] {
					continue
				}
				if user := userOf(code, at+1); user > 0 {
					p.reach = max(p.reach, code[user].off+accessed(code[user].op))
				}
			}
		}
	}
	return p.reach
}

// widest looks at the farthest of a straight run first. Go's compiler writes
// loads and stores in the order of their distance, and each would be looked at.
// Between those of a run nothing leaves it, so that all of them are reached.
func (p *polisher) widest(code []instr) []instr {
	reach, anchors := p.reaches(code)
	out := make([]instr, 0, len(code)+3*len(reach)+2*len(anchors))
	for at, i := range code {
		if anchors[at] {
			out = append(out, i, instr{op: opLocalSet, arg: i.arg})
		}
		ends := reach[at]
		if ends > 0 && i.op == opLocalGet {
			out = appendLook(out, i.arg, ends)
		}
		out = append(out, i)
		if ends > 0 && i.op == opLocalTee {
			out = appendLook(out, i.arg, ends)
		}
	}
	return out
}

// reaches returns how far the runs of a unit reach, by the places where they
// first use an address; and where a block first uses one.
func (p *polisher) reaches(code []instr) (reach map[int]uint32, anchors map[int]bool) {
	type use struct {
		at   int
		ends uint32
	}
	reach, anchors = map[int]uint32{}, map[int]bool{}
	run, anchored := map[int64]use{}, map[int64]bool{} // by local
	for at, i := range code {
		switch _, _, plain := effect(i.op); {
		case i.op == opEnd, i.op == opElse, i.op == opLoop:
			clear(anchored)
			clear(run)
		case !plain:
			clear(run)
		}
		if i.op != opLocalGet && i.op != opLocalTee || !p.addressed[i.arg] {
			continue
		}
		if i.op == opLocalTee {
			delete(run, i.arg)
		} else if !anchored[i.arg] {
			anchors[at] = true
		}
		anchored[i.arg] = true
		user := userOf(code, at+1)
		if user == 0 {
			continue
		}
		ends := code[user].off + accessed(code[user].op)
		switch f, known := run[i.arg]; {
		case !known:
			run[i.arg] = use{at, ends}
		case ends > max(f.ends, reach[f.at]):
			reach[f.at] = ends
		}
	}
	return reach, anchors
}

// appendLook appends a load of the byte before ends.
func appendLook(code []instr, address int64, ends uint32) []instr {
	return append(code, instr{op: opLocalGet, arg: address}, instr{op: opI32Load8U, off: ends - 1}, instr{op: opDrop})
}

// accessed is how many bytes a load or a store reaches.
func accessed(op byte) uint32 {
	switch op {
	case opI64Load, opF64Load, opI64Store, opF64Store:
		return 8
	case 0x2c, 0x2d, 0x30, 0x31, 0x3a, 0x3c: // 8 bits
		return 1
	case 0x2e, 0x2f, 0x32, 0x33, 0x3b, 0x3d: // 16 bits
		return 2
	}
	return 4
}
