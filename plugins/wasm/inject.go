package wasm

// entry returns the first code of a function: it takes the depth that its calls
// need, and charges the first segment.
func (b *body) entry() []byte {
	var o []byte
	if b.callsOwn {
		o = op(o, opGlobalGet, b.depth)
		o = append(sleb(append(o, opI32Const), b.weight), opI32Sub)
		o = op(o, opLocalTee, b.depthLeft())
		o = append(o, opI32Const, 0, opI32LtS, opIf, blockEmpty)
		o = op(o, opLocalGet, b.depthLeft())
		o = append(op(o, opGlobalSet, b.depth), opUnreachable, opEnd)
	}
	return b.appendCharge(op(o, opGlobalGet, b.fuel), b.first, !b.leaf || b.total > maxLeafCost)
}

// appendCharge appends code that charges cost, with the fuel on the stack, and
// checks the rest. The fuel is a global, for the host and for called functions.
// Within a function it is also in a local, because loading a value that was just
// stored takes longer than everything else here.
func (b *body) appendCharge(o []byte, cost int64, check bool) []byte {
	o = append(sleb(append(o, opI64Const), cost), opI64Sub)
	o = op(o, opLocalTee, b.fuelLeft())
	o = op(o, opGlobalSet, b.fuel)
	if check {
		o = b.appendCheck(op(o, opLocalGet, b.fuelLeft()))
	}
	return o
}

// fuelLeft returns the local of the fuel.
func (b *body) fuelLeft() uint32 { return b.local(&b.fuelAt, typeI64) }

// depthLeft returns the local of the depth that calls may take.
func (b *body) depthLeft() uint32 { return b.local(&b.depthAt, typeI32) }

// appendCheck appends code that compares the fuel on the stack with yieldAt and
// seldom calls the yield function. The call is in the second arm: the compiler
// allocates registers for the first, and otherwise all live values would go
// through memory in each iteration of a loop.
func (b *body) appendCheck(s []byte) []byte {
	s = append(op(s, opGlobalGet, b.yieldAt), opI64GeS, opIf, blockEmpty, opElse)
	return append(op(s, opCall, b.yield), opEnd)
}

// yieldBody returns the body of the added function, which follows all functions
// of the module. It traps when the fuel is used up, and otherwise calls the host.
// An import would change the index of every function. memory.grow leaves compiled
// code without one. The host refuses this growth, and knows it by the global. To
// end the module it panics: compiled code does not read the global again here.
func (m *meter) yieldBody() []byte {
	b := trapIf(append(op([]byte{0}, opGlobalGet, m.fuel), opI64Const, 0, opI64LtS))
	if m.start.Yields && m.mod.memories > 0 {
		b = op(sleb(append(b, opI64Const), Yielding), opGlobalSet, m.yieldAt)
		b = append(b, opI32Const, 1, opMemoryGrow, 0, opDrop)
	}
	return append(b, opEnd)
}

// chargeByOperand charges the i32 on the stack, shifted right or left, in front of
// the next instruction.
func (b *body) chargeByOperand(shift byte, left bool) {
	n := b.scratchLocal(typeI32)
	s := op(b.seg, opLocalTee, n)
	s = op(s, opLocalGet, b.fuelLeft())
	s = op(s, opLocalGet, n)
	s = append(s, opI64ExtendU, opI64Const, shift)
	if left {
		s = append(s, opI64Shl)
	} else {
		s = append(s, opI64ShrU)
	}
	b.takeFuel(s)
}

// chargeGrowth is chargeByOperand for memory.grow. Growth beyond the limit is
// refused and costs nothing more.
func (b *body) chargeGrowth() {
	n := b.scratchLocal(typeI32)
	s := op(b.seg, opLocalTee, n)
	s = op(s, opLocalGet, b.fuelLeft())
	s = append(op(s, opLocalGet, n), opI32Const, 0)
	s = op(s, opLocalGet, n)
	s = append(sleb(append(s, opI32Const), int64(b.mod.limits.Pages)), opI32LeU, opSelect)
	b.takeFuel(append(s, opI64ExtendU, opI64Const, shiftGrow, opI64Shl))
}

// takeFuel appends code that subtracts the i64 on the stack from the fuel below
// it, and checks the rest.
func (b *body) takeFuel(s []byte) {
	b.leaf = false
	s = op(append(s, opI64Sub), opLocalTee, b.fuelLeft())
	s = op(s, opGlobalSet, b.fuel)
	b.seg = b.appendCheck(op(s, opLocalGet, b.fuelLeft()))
}

// call copies a call. It passes the depth to functions of the module, and reads
// the fuel again afterwards.
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
		b.callsOwn = true
		b.seg = op(op(b.seg, opLocalGet, b.depthLeft()), opGlobalSet, b.depth)
	}
	b.leaf = false
	b.copy(from)
	b.seg = op(op(b.seg, opGlobalGet, b.fuel), opLocalSet, b.fuelLeft())
	b.totalCalls++
	if b.uncheckedCalls++; b.uncheckedCalls >= maxUncheckedCalls {
		b.flush()
		b.requestCheck()
	}
}

// canonical replaces a NaN that the last instruction may have made by the positive
// quiet NaN without a payload, unless the next instruction hides its bits.
func (b *body) canonical(code byte) {
	t, yes := makesNaN(code)
	if c := &b.in; !yes || c.p < len(c.b) && hidesNaN(t, c.b[c.p]) {
		return
	}
	v := b.scratchLocal(t)
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

// separateOrder works around a fault of wazero's compiler (v1.12.0, in
// tryLowerBandToFlag). Where a branch depends on the order of zero and x & y, it
// compares x & y with zero whichever of the two is on the left, and on arm64 an
// unsigned order is wrong too. So the branch gets a second comparison to depend
// on. The fault needs the three instructions without a store between them. A
// segment begins with one, of the fuel, so only the same segment counts.
func (b *body) separateOrder(op byte) {
	switch {
	case op == opI32And || op == opI64And:
		b.masked = true
	case b.masked && ordersIntegers(op):
		b.seg = append(b.seg, opI32Const, 0, opI32Ne)
	}
}

// canonicalVector is canonical for the lanes of a vector.
func (b *body) canonicalVector(sub uint32) {
	equal, yes := simdMakesNaN(sub)
	if !yes {
		return
	}
	v := b.scratchLocal(typeV128)
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

// bulk copies an instruction of bulk memory or tables, or a saturating conversion.
func (b *body) bulk(from int) {
	c := &b.in
	sub := c.u32()
	if sub >= bulkMemoryInit {
		b.cost += costBulk
	}
	switch sub {
	case 0, 1, 2, 3, 4, 5, 6, 7: // trunc_sat
	case bulkMemoryInit:
		b.dataIndex()
		b.memoryIndex()
		b.needMemory()
		b.chargeByOperand(shiftBulk, false)
		b.notRestorable("memory.init")
	case bulkDataDrop:
		b.dataIndex()
		b.notRestorable("data.drop")
	case bulkMemoryCopy:
		b.memoryIndex()
		b.memoryIndex()
		b.needMemory()
		b.chargeByOperand(shiftBulk, false)
	case bulkMemoryFill:
		b.memoryIndex()
		b.needMemory()
		b.chargeByOperand(shiftBulk, false)
	case bulkTableInit:
		c.index("element segment", b.mod.elems)
		c.index("table", b.mod.tables)
		b.chargeByOperand(shiftTable, true)
		b.notRestorable("table.init")
	case bulkElemDrop:
		c.index("element segment", b.mod.elems)
		b.notRestorable("elem.drop")
	case bulkTableCopy:
		c.index("table", b.mod.tables)
		c.index("table", b.mod.tables)
		b.chargeByOperand(shiftTable, true)
		b.notRestorable("table.copy")
	case bulkTableSize:
		c.index("table", b.mod.tables)
	case bulkTableFill:
		c.index("table", b.mod.tables)
		b.chargeByOperand(shiftTable, true)
		b.notRestorable("table.fill")
	case bulkTableGrow:
		c.fail(Unsupported, "table.grow")
	default:
		c.fail(Unsupported, "instruction 0xfc %d", sub)
	}
	b.copy(from)
}

// simd copies a vector instruction.
func (b *body) simd(from int) {
	c := &b.in
	sub := c.u32()
	b.cost += costSIMD
	switch {
	case sub <= 11, sub == 92, sub == 93:
		b.needMemory()
		b.memArg()
	case sub == simdConst, sub == simdShuffle:
		c.take(16)
	case sub >= 21 && sub <= 34:
		c.byte()
	case sub >= 84 && sub <= 91:
		b.needMemory()
		b.memArg()
		c.byte()
	case sub == 0xe3, sub == 0xe7, sub == 0xef, sub == 0xf3: // sqrt and div
		b.cost += costSIMDSqrt
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

func (b *body) needMemory() {
	if b.mod.memories == 0 {
		b.in.fail(Malformed, "an access to memory, and there is none")
	}
}

// memoryIndex reads the index of a memory, which must be 0.
func (b *body) memoryIndex() {
	if b.in.byte() != 0 {
		b.in.fail(Malformed, "a memory other than the first")
	}
}

func (b *body) dataIndex() {
	b.in.index("data segment", max(b.mod.datas, 0))
}

func (b *body) mutatesTable(yes bool) {
	if yes {
		b.notRestorable("table.set")
	}
}

// notRestorable notes why instances of the module cannot be restored.
func (b *body) notRestorable(what string) {
	if b.reason == "" {
		b.reason = what
	}
}
