package wasm

// Go's compiler for WebAssembly has few registers: it loads what is on the
// stack again for each use. Here it is loaded once and kept in a local, as far
// as nobody else may have written to it, whichever way the function takes.
//
// A store through a pointer reaches the stack only where the function made a
// pointer to what is there. Who is called may write to what it was given and
// where it puts its results, which is the lower end of the frame; not to what
// this function itself was given, which is above the frame. That no pointer to
// one variable reaches another is a rule of Go, for package unsafe as well.

// A slot is a value on the stack: its distance from the stack pointer, and the
// instruction that loads it.
type slot struct {
	off uint32
	op  byte
}

const slotBytes = 8

// slots keeps what is on the stack of one unit in locals.
type slots struct {
	*polisher
	walk[slot]
	code []instr
	out  []instr
	sp   map[int]bool // stores to the stack, by their place in code
}

// given is the distance from which on there is what the function was given; 0
// when it is not known.
func (r *routine) given() uint32 {
	for at := 0; len(r.units) > 0 && at < len(r.units[0]); at++ {
		if c := r.units[0][at:]; takesFrame(c) {
			return uint32(c[1].arg) + 8
		}
	}
	return 0
}

// findPointers notes to which part of the stack the function makes pointers.
func (p *polisher) findPointers() {
	p.framed = p.given()
	for _, code := range p.units {
		for at, i := range code {
			if i != push[0] || isStackUse(code, at) {
				continue
			}
			if at+3 < len(code) && code[at+1].op == opI64ExtendU && code[at+2].op == opI64Const && code[at+3].op == opI64Add && code[at+2].arg >= int64(p.framed) {
				p.toGiven = true
			} else {
				p.toFrame = true
			}
		}
	}
}

// isStackUse reports whether a use of the stack pointer makes no pointer that
// is kept: it is moved, compared with the limit, or loaded or stored at.
func isStackUse(code []instr, at int) bool {
	if at+1 >= len(code) {
		return false
	}
	switch next := code[at+1]; {
	case next.op == opGlobalGet && next.arg == goroutine:
		return true
	case next.op == opI32Const && at+3 < len(code) && (code[at+2].op == opI32Sub || code[at+2].op == opI32Add):
		return code[at+3].op == opLocalTee || code[at+3].op == opLocalSet || code[at+3].op == opGlobalSet
	}
	return userOf(code, at+1) > 0
}

// goroutine is the global that holds g.
const goroutine = 2

// keep rewrites the units.
func (p *polisher) keep() {
	p.countSlots()
	out := make([][]instr, len(p.units))
	flow(p.routine, func(u int, w *walk[slot]) { out[u] = p.keepUnit(p.units[u], w) })
	copy(p.units, out)
}

// countSlots counts the loads and stores of each slot: one that is used once
// gains nothing from a local.
func (p *polisher) countSlots() {
	for _, code := range p.units {
		for at, i := range code {
			if i != push[0] {
				continue
			}
			if user := userOf(code, at+1); user > 0 {
				switch code[user].op {
				case opI64Load, opI64Store:
					p.uses[slot{code[user].off, opI64Load}]++
				case opF64Load, opF64Store:
					p.uses[slot{code[user].off, opF64Load}]++
				}
			}
		}
	}
}

// keepUnit rewrites one unit.
func (p *polisher) keepUnit(code []instr, w *walk[slot]) []instr {
	s := slots{polisher: p, walk: *w, code: code, out: make([]instr, 0, len(code)+len(code)/8), sp: map[int]bool{}}
	for at, i := range code {
		if i == push[0] {
			if user := userOf(code, at+1); user > 0 && isStore(code[user].op) {
				s.sp[user] = true
			}
		}
	}
	for at := 0; at < len(code); at++ {
		i := code[at]
		if i == push[0] && at+1 < len(code) && (code[at+1].op == opI64Load || code[at+1].op == opF64Load) {
			at++
			s.load(slot{code[at].off, code[at].op}, code[at])
			continue
		}
		s.follow(at, i)
	}
	*w = s.walk
	return s.out
}

// load gives what a slot holds.
func (s *slots) load(k slot, i instr) {
	if s.known[k] {
		s.out = append(s.out, instr{op: opLocalGet, arg: s.localOf(k)})
		return
	}
	s.out = append(s.out, push[0], i)
	s.hold(k)
}

// hold keeps the value on top of the stack, which is that of a slot.
func (s *slots) hold(k slot) {
	if s.uses[k] > 1 {
		s.known[k] = true
		s.out = append(s.out, instr{op: opLocalTee, arg: s.localOf(k)})
	}
}

func (s *slots) localOf(k slot) int64 {
	if s.kept[k] == 0 {
		typ := byte(typeI64)
		if k.op == opF64Load {
			typ = typeF64
		}
		s.kept[k] = s.ours(typ)
	}
	return s.kept[k]
}

// follow takes over any other instruction, and forgets what it may change.
func (s *slots) follow(at int, i instr) {
	switch {
	case i.op == opLocalSet && i.arg == stack, i.op == opLocalTee && i.arg == stack:
		clear(s.known)
	case i.op == opCall, i.op == opCallIndirect:
		s.forget(func(k slot) bool { return s.framed == 0 || k.off < s.framed || s.toGiven })
	case isStore(i.op) && s.sp[at]:
		s.forget(func(k slot) bool { return k.off+slotBytes > i.off && k.off < i.off+slotBytes })
		switch i.op {
		case opI64Store:
			s.hold(slot{i.off, opI64Load})
		case opF64Store:
			s.hold(slot{i.off, opF64Load})
		}
	case isStore(i.op), i.op == opBulk:
		s.forget(func(k slot) bool {
			if s.framed == 0 {
				return s.toFrame || s.toGiven
			}
			return k.off < s.framed && s.toFrame || k.off >= s.framed && s.toGiven
		})
	}
	s.pass(s.routine, i)
	s.out = append(s.out, i)
}

func (s *slots) forget(which func(k slot) bool) {
	for k := range s.known {
		if which(k) {
			delete(s.known, k)
		}
	}
}

func isStore(op byte) bool { return op >= 0x36 && op <= 0x3e }
