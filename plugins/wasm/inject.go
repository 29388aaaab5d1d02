package wasm

// enter returns what a function does first: it takes the depth that its own
// calls need, and pays for its first segment.
func (b *body) enter() []byte {
	var o []byte
	if b.calling {
		o = op(o, opGlobalGet, b.depth)
		o = append(sleb(append(o, opI32Const), b.weight), opI32Sub)
		o = op(o, opLocalTee, b.depthLeft())
		o = append(o, opI32Const, 0, opI32LtS, opIf, blockEmpty)
		o = op(o, opLocalGet, b.depthLeft())
		o = append(op(o, opGlobalSet, b.depth), opUnreachable, opEnd)
	}
	return b.pay(op(o, opGlobalGet, b.fuel), b.first, !b.leaf || b.total > mostLeaf)
}

// pay appends the charge, with the fuel on the stack, and the look at what is
// left. The fuel is a global, for the host and for functions that are called;
// within a function it is a local as well, because loading what was just stored
// takes longer than all the rest.
func (b *body) pay(o []byte, cost int64, check bool) []byte {
	o = append(sleb(append(o, opI64Const), cost), opI64Sub)
	o = op(o, opLocalTee, b.fuelLeft())
	o = op(o, opGlobalSet, b.fuel)
	if check {
		o = b.lookAt(op(o, opLocalGet, b.fuelLeft()))
	}
	return o
}

// fuelLeft is the local that holds the fuel.
func (b *body) fuelLeft() uint32 { return b.local(&b.fuelAt, typeI64) }

// depthLeft is the local that holds the depth that is left to calls.
func (b *body) depthLeft() uint32 { return b.local(&b.depthAt, typeI32) }

// lookAt compares the fuel on top of the stack with where the host wants to be
// asked. That is above zero mostly, and the call is made seldom. It stands in
// the second arm: the compiler lays its registers out for the first, and
// everything that lives would go through memory in every turn of a loop.
func (b *body) lookAt(s []byte) []byte {
	s = append(op(s, opGlobalGet, b.yieldAt), opI64GeS, opIf, blockEmpty, opElse)
	return append(op(s, opCall, b.yield), opEnd)
}

// yieldBody is our function, behind all of the module's own. It traps when no
// fuel is left. Else it asks the host, which decides whether the module may go
// on. There is no import for that, because an import would give every function
// another index; what leaves compiled code without one is memory.grow, by more
// than any memory may grow, so that it is always refused.
func (m *meter) yieldBody() []byte {
	b := trapIf(append(op([]byte{0}, opGlobalGet, m.fuel), opI64Const, 0, opI64LtS))
	if m.start.Yields && m.mod.memories > 0 {
		b = append(sleb(append(b, opI32Const), YieldPages), opMemoryGrow, 0, opDrop)
	}
	b = sleb(append(op(b, opGlobalGet, m.yieldAt), opI64Const), StopNow)
	return append(trapIf(append(b, opI64Eq)), opEnd)
}

// charge puts in front of the instruction that comes next what it costs by
// the i32 on top of the stack: shifted right, or left, by so many bits.
func (b *body) charge(shift byte, left bool) {
	n := b.ours(typeI32)
	s := op(b.seg, opLocalTee, n)
	s = op(s, opLocalGet, b.fuelLeft())
	s = op(s, opLocalGet, n)
	s = append(s, opI64ExtendU, opI64Const, shift)
	if left {
		s = append(s, opI64Shl)
	} else {
		s = append(s, opI64ShrU)
	}
	b.take(s)
}

// chargeGrowth is charge for memory.grow: growing by more than any memory may
// have is refused, and costs no more than that.
func (b *body) chargeGrowth() {
	n := b.ours(typeI32)
	s := op(b.seg, opLocalTee, n)
	s = op(s, opLocalGet, b.fuelLeft())
	s = append(op(s, opLocalGet, n), opI32Const, 0)
	s = op(s, opLocalGet, n)
	s = append(sleb(append(s, opI32Const), int64(b.mod.limits.Pages)), opI32LeU, opSelect)
	b.take(append(s, opI64ExtendU, opI64Const, shiftGrow, opI64Shl))
}

// take takes the i64 on the stack from the fuel below it, and looks.
func (b *body) take(s []byte) {
	b.leaf = false
	s = op(append(s, opI64Sub), opLocalTee, b.fuelLeft())
	s = op(s, opGlobalSet, b.fuel)
	b.seg = b.lookAt(op(s, opLocalGet, b.fuelLeft()))
}

// call takes over a call. Functions of the module's own are told what depth
// is left; what is left of the fuel only they and the host know afterwards.
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
	} else {
		b.calling = true
		b.seg = op(op(b.seg, opLocalGet, b.depthLeft()), opGlobalSet, b.depth)
	}
	b.leaf = false
	b.copy(from)
	b.seg = op(op(b.seg, opGlobalGet, b.fuel), opLocalSet, b.fuelLeft())
	b.called++
	if b.calls++; b.calls >= mostCalls {
		b.flush()
		b.look()
	}
}

// canonical makes a NaN that the instruction before may have left the one
// positive quiet NaN without a payload, unless the next one takes it and shows
// nothing of its bits.
func (b *body) canonical(code byte) {
	t, yes := makesNaN(code)
	if c := &b.in; !yes || c.p < len(c.b) && hidesNaN(t, c.b[c.p]) {
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
