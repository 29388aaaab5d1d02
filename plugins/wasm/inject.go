package wasm

// pay appends the charge for the segment, and the look at what is left.
func (b *body) pay() {
	o := op(b.out, opGlobalGet, b.fuel)
	o = sleb(append(o, opI64Const), b.cost)
	o = append(o, opI64Sub)
	if !b.check {
		b.out = op(o, opGlobalSet, b.fuel)
		return
	}
	left := b.ours(typeI64)
	o = op(o, opLocalTee, left)
	o = op(o, opGlobalSet, b.fuel)
	o = op(o, opLocalGet, left)
	b.out = b.lookAt(o)
}

// lookAt compares the fuel on top of the stack with where the host wants to be
// asked. That is above zero mostly, and the call is made seldom.
func (b *body) lookAt(s []byte) []byte {
	s = append(op(s, opGlobalGet, b.stop), opI64LtS, opIf, blockEmpty)
	return append(op(s, opCall, b.pause), opEnd)
}

// pauseBody is our function, behind all of the module's own. It traps when no
// fuel is left. Else it asks the host, which decides whether the module may go
// on. There is no import for that, because an import would give every function
// another index; what leaves compiled code without one is memory.grow, by more
// than any memory may grow, so that it is always refused.
func (m *meter) pauseBody() []byte {
	b := trapIf(append(op([]byte{0}, opGlobalGet, m.fuel), opI64Const, 0, opI64LtS))
	if m.start.Pauses && m.mod.memories > 0 {
		b = append(sleb(append(b, opI32Const), PausePages), opMemoryGrow, 0, opDrop)
	}
	b = sleb(append(op(b, opGlobalGet, m.stop), opI64Const), StopNow)
	return append(trapIf(append(b, opI64Eq)), opEnd)
}

// charge puts in front of the instruction that comes next what it costs by
// the i32 on top of the stack: shifted right, or left, by so many bits.
func (b *body) charge(shift byte, left bool) {
	n, rest := b.ours(typeI32), b.ours(typeI64)
	s := op(b.seg, opLocalTee, n)
	s = op(s, opGlobalGet, b.fuel)
	s = op(s, opLocalGet, n)
	s = append(s, opI64ExtendU, opI64Const, shift)
	if left {
		s = append(s, opI64Shl)
	} else {
		s = append(s, opI64ShrU)
	}
	s = op(append(s, opI64Sub), opLocalTee, rest)
	s = op(s, opGlobalSet, b.fuel)
	s = op(s, opLocalGet, rest)
	b.seg = b.lookAt(s)
}

// chargeGrowth is charge for memory.grow: growing by more than any memory may
// have is refused, and costs no more than that.
func (b *body) chargeGrowth() {
	n, rest := b.ours(typeI32), b.ours(typeI64)
	s := op(b.seg, opLocalTee, n)
	s = op(s, opGlobalGet, b.fuel)
	s = append(op(s, opLocalGet, n), opI32Const, 0)
	s = op(s, opLocalGet, n)
	s = append(sleb(append(s, opI32Const), int64(b.mod.limits.Pages)), opI32LeU, opSelect)
	s = append(s, opI64ExtendU, opI64Const, shiftGrow, opI64Shl, opI64Sub)
	s = op(s, opLocalTee, rest)
	s = op(s, opGlobalSet, b.fuel)
	s = op(s, opLocalGet, rest)
	b.seg = b.lookAt(s)
}

// call takes over a call. One of the module's own functions takes depth, and
// gives it back.
func (b *body) call(code byte) {
	c := &b.in
	from := c.p - 1
	imported := false
	if code == opCall {
		imported = int(c.index("function", len(b.mod.funcs))) < b.mod.importedFuncs()
	} else {
		c.index("type", len(b.mod.types))
		c.index("table", b.mod.tables)
	}
	if imported {
		b.cost += costImport
		b.copy(from)
		return
	}
	left := b.ours(typeI32)
	s := op(b.seg, opGlobalGet, b.depth)
	s = append(sleb(append(s, opI32Const), b.weight), opI32Sub)
	s = op(s, opLocalTee, left)
	s = op(s, opGlobalSet, b.depth)
	s = op(s, opLocalGet, left)
	b.seg = trapIf(append(s, opI32Const, 0, opI32LtS))
	b.copy(from)
	s = op(b.seg, opGlobalGet, b.depth)
	s = append(sleb(append(s, opI32Const), b.weight), opI32Add)
	b.seg = op(s, opGlobalSet, b.depth)
}

// canonical makes a NaN that the instruction before may have left the one
// positive quiet NaN without a payload.
func (b *body) canonical(code byte) {
	t, yes := makesNaN(code)
	if !yes {
		return
	}
	v := b.ours(t)
	s := op(b.seg, opLocalTee, v)
	equal := byte(opF64Eq)
	if t == typeF32 {
		s = le(append(s, opF32Const), 0x7fc00000, 4)
		equal = opF32Eq
	} else {
		s = le(append(s, opF64Const), 0x7ff8000000000000, 8)
	}
	s = op(s, opLocalGet, v)
	s = op(s, opLocalGet, v)
	b.seg = append(s, equal, opSelect)
}

// canonicalVector is canonical for the lanes of a vector.
func (b *body) canonicalVector(sub uint32) {
	equal, yes := simdMakesNaN(sub)
	if !yes {
		return
	}
	v := b.ours(typeV128)
	nan, width := uint64(0x7ff8000000000000), 8
	if equal == simdF32x4Eq {
		nan, width = 0x7fc00000, 4
	}
	s := op(b.seg, opLocalTee, v)
	s = append(s, opSIMD, simdConst)
	for range 16 / width {
		s = le(s, nan, width)
	}
	s = op(s, opLocalGet, v)
	s = op(s, opLocalGet, v)
	s = append(s, opSIMD, byte(equal))
	b.seg = append(s, opSIMD, simdBitselect)
}

func le(b []byte, v uint64, n int) []byte {
	for i := range n {
		b = append(b, byte(v>>(8*i)))
	}
	return b
}

// bulk takes over an instruction of the group of bulk memory and tables, and
// of the conversions that saturate.
func (b *body) bulk(from int) {
	c := &b.in
	sub := c.u32()
	if sub >= bulkMemoryInit {
		b.cost += costBulk
	}
	switch sub {
	case 0, 1, 2, 3, 4, 5, 6, 7: // trunc_sat
	case bulkMemoryInit:
		b.data()
		b.zero()
		b.memory()
		b.charge(shiftBulk, false)
		b.blame("memory.init")
	case bulkDataDrop:
		b.data()
		b.blame("data.drop")
	case bulkMemoryCopy:
		b.zero()
		b.zero()
		b.memory()
		b.charge(shiftBulk, false)
	case bulkMemoryFill:
		b.zero()
		b.memory()
		b.charge(shiftBulk, false)
	case bulkTableInit:
		c.index("element segment", b.mod.elems)
		c.index("table", b.mod.tables)
		b.charge(shiftTable, true)
		b.blame("table.init")
	case bulkElemDrop:
		c.index("element segment", b.mod.elems)
		b.blame("elem.drop")
	case bulkTableCopy:
		c.index("table", b.mod.tables)
		c.index("table", b.mod.tables)
		b.charge(shiftTable, true)
		b.blame("table.copy")
	case bulkTableSize:
		c.index("table", b.mod.tables)
	case bulkTableFill:
		c.index("table", b.mod.tables)
		b.charge(shiftTable, true)
		b.blame("table.fill")
	case bulkTableGrow:
		c.fail(Unsupported, "table.grow")
	default:
		c.fail(Unsupported, "instruction 0xfc %d", sub)
	}
	b.copy(from)
}

// simd takes over a vector instruction.
func (b *body) simd(from int) {
	c := &b.in
	sub := c.u32()
	b.cost += costSIMD
	switch {
	case sub <= 11, sub == 92, sub == 93:
		b.memory()
		b.memArg()
	case sub == simdConst, sub == simdShuffle:
		c.take(16)
	case sub >= 21 && sub <= 34:
		c.byte()
	case sub >= 84 && sub <= 91:
		b.memory()
		b.memArg()
		c.byte()
	case sub == 0xe3, sub == 0xe7, sub == 0xef, sub == 0xf3: // sqrt and div
		b.cost += costSIMDRoot
	case sub > simdLast:
		c.fail(Unsupported, "instruction 0xfd %d", sub)
	}
	b.copy(from)
	b.canonicalVector(sub)
}

func (b *body) memArg() {
	if align := b.in.u32(); align > 4 {
		b.in.fail(Malformed, "an alignment of 2^%d", align)
	}
	b.in.u32()
}

func (b *body) memory() {
	if b.mod.memories == 0 {
		b.in.fail(Malformed, "an access to memory, and there is none")
	}
}

// zero reads an index of a memory.
func (b *body) zero() {
	if b.in.byte() != 0 {
		b.in.fail(Malformed, "a memory other than the first")
	}
}

func (b *body) data() {
	b.in.index("data segment", max(b.mod.datas, 0))
}

func (b *body) mutatesTable(yes bool) {
	if yes {
		b.blame("table.set")
	}
}

// blame notes why instances of the module cannot be put back to an image.
func (b *body) blame(what string) {
	if b.because == "" {
		b.because = what
	}
}
