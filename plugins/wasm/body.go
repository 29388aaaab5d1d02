package wasm

// A body rewrites one function body.
type body struct {
	*meter
	in     cursor
	locals uint64 // parameters and locals of the module; added ones follow

	out    []byte // finished code
	seg    []byte // code of the current segment
	cost   int64  // of the segment
	masked bool   // the segment has an i32.and or an i64.and
	check  bool   // check the fuel at the start of the segment
	open   []openBlock
	weight int64 // depth that calls take

	first          int64 // cost of the first segment, which is charged in entry
	entered        bool  // the first segment has ended
	total          int64 // cost of all segments
	leaf           bool  // no loops, no calls, no costs by an operand
	callsOwn       bool  // it calls functions of the module
	uncheckedCalls int   // since the last check, on any path
	totalCalls     int   // calls so far

	scratch         []byte          // types of the added locals
	at              map[byte]uint32 // added local of a type, plus one
	fuelAt, depthAt uint32          // added locals for these, plus one
}

// rewrite returns the new body, without its size.
func (b *body) rewrite() []byte {
	decl := b.declare()
	b.cost, b.leaf = 1, true
	b.open = append(b.open, openBlock{})
	for len(b.open) > 0 && b.in.more() {
		b.instruction()
	}
	if len(b.open) > 0 {
		b.in.fail(Malformed, "a body without an end")
	}
	b.flush()
	b.in.end("body")
	enter := b.entry()
	out := leb(nil, uint64(decl.groups+len(b.scratch)))
	out = append(out, decl.bytes...)
	for _, t := range b.scratch {
		out = append(out, 1, t)
	}
	return append(append(out, enter...), b.out...)
}

type localGroups struct {
	groups int
	bytes  []byte
}

// declare reads the declarations of locals.
func (b *body) declare() localGroups {
	c := &b.in
	if len(c.b) > b.mod.limits.Body {
		c.fail(Exceeds, "a body of %d bytes; at most %d", len(c.b), b.mod.limits.Body)
	}
	groups := c.count("groups of locals", b.mod.limits.Locals, 2)
	from := c.p
	own := uint64(0)
	for range groups {
		own += uint64(c.u32())
		c.valueType(c.byte())
		if own > uint64(b.mod.limits.Locals) {
			c.fail(Exceeds, "more than %d locals", b.mod.limits.Locals)
		}
		if c.failed() {
			return localGroups{}
		}
	}
	b.locals += own
	if b.totalLocals += own; b.totalLocals > uint64(b.mod.limits.TotalLocals) {
		c.fail(Exceeds, "more than %d locals in all functions", b.mod.limits.TotalLocals)
	}
	b.weight = depthWeight(b.locals, len(c.b))
	return localGroups{groups, c.b[from:c.p]}
}

// instruction reads one instruction and writes it with its added code.
func (b *body) instruction() {
	c := &b.in
	from := c.p
	op := c.byte()
	b.cost += int64(costs[op])
	switch shapes[op] {
	case none:
		b.plain(op)
		return
	case block:
		b.block(op)
		return
	case label:
		c.index("label", len(b.open))
		b.copy(from)
		if op == opBr {
			b.flush()
		}
		return
	case labels:
		for range c.count("labels", b.mod.limits.BrTable, 1) + 1 {
			c.index("label", len(b.open))
		}
		b.copy(from)
		b.flush()
		return
	case callee, indirect:
		b.call(op)
		return
	case memIndex:
		b.needMemory()
		b.memoryIndex()
		if op == opMemoryGrow {
			b.chargeGrowth()
		}
	case bulkGroup:
		b.bulk(from)
		return
	case simdGroup:
		b.simd(from)
		return
	case refused:
		c.p = from
		c.fail(Unsupported, "instruction %#x", op)
	default:
		b.operands(op)
	}
	b.copy(from)
}

// operands reads the operands of an instruction that is copied unchanged.
func (b *body) operands(op byte) {
	c := &b.in
	switch shapes[op] {
	case local:
		if i := c.u32(); uint64(i) >= b.locals {
			c.fail(Malformed, "no local %d: there are %d", i, b.locals)
		}
	case globalIndex:
		c.index("global", b.mod.allGlobals())
	case tableIndex:
		c.index("table", b.mod.tables)
		b.mutatesTable(op == opTableSet)
	case memArg:
		b.needMemory()
		b.memArg()
	case const32:
		c.signed(5)
	case const64:
		c.signed(10)
	case raw4:
		c.take(4)
	case raw8:
		c.take(8)
	case refType:
		c.refType(c.byte())
	case funcIndex:
		if f := c.index("function", len(b.mod.funcs)); !b.mod.declared[f] {
			c.fail(Malformed, "a reference to function %d, which is declared nowhere", f)
		}
		b.notRestorable("ref.func") // wazero allocates a function instance, and keeps it as long as the instance
	case selectTyped:
		for range c.count("types of a select", 1, 1) {
			c.valueType(c.byte())
		}
	}
}

// copy appends the input since from to the segment.
func (b *body) copy(from int) { b.seg = append(b.seg, b.in.b[from:b.in.p]...) }

// plain copies an instruction without operands.
func (b *body) plain(op byte) {
	b.seg = append(b.seg, op)
	switch op {
	case opEnd:
		b.flush()
		b.join()
		b.open = b.open[:len(b.open)-1]
	case opElse:
		b.flush()
		b.uncheckedCalls = b.open[len(b.open)-1].unchecked
	case opReturn, opUnreachable:
		b.flush()
	default:
		b.canonical(op)
		b.separateOrder(op)
	}
}

// block enters a block, a loop or an if.
func (b *body) block(op byte) {
	c := &b.in
	from := c.p - 1
	b.blockType()
	if b.open = append(b.open, openBlock{b.uncheckedCalls, b.totalCalls}); len(b.open) > b.mod.limits.Nesting {
		c.fail(Exceeds, "blocks nested deeper than %d", b.mod.limits.Nesting)
	}
	b.copy(from)
	if op != opBlock {
		b.flush()
	}
	if op == opLoop {
		b.leaf = false
		b.requestCheck()
	}
}

// blockType reads nothing, one value type, or a positive index of a type.
func (b *body) blockType() {
	c := &b.in
	if c.p >= len(c.b) {
		c.fail(Malformed, "unexpected end")
		return
	}
	switch t := c.b[c.p]; {
	case t == blockEmpty:
		c.p++
	case t&0xc0 == 0x40: // a negative number of one byte
		c.p++
		c.valueType(t)
	default:
		from := c.p
		c.signed(5)
		if v, ok := positive(c.b[from:c.p]); !c.failed() && (!ok || v >= uint64(len(b.mod.types))) {
			c.fail(Malformed, "a block of an unknown type")
		}
	}
}

// positive decodes a signed LEB128 number, and reports whether it is not negative.
func positive(b []byte) (uint64, bool) {
	var v uint64
	for i, c := range b {
		v |= uint64(c&0x7f) << (7 * i)
	}
	return v, len(b) > 0 && b[len(b)-1]&0x40 == 0
}

// flush ends a segment, and charges its cost in front of it.
func (b *body) flush() {
	if b.check || !b.entered {
		b.cost += costCheck
	}
	b.total += b.cost
	switch {
	case !b.entered:
		b.first, b.entered = b.cost, true
	case b.cost > 0:
		b.out = b.appendCharge(op(b.out, opLocalGet, b.fuelLeft()), b.cost, b.check)
	}
	b.out = append(b.out, b.seg...)
	b.seg = b.seg[:0]
	b.cost, b.check, b.masked = 0, false, false
}

// An openBlock is a block whose end was not read yet, with the counts of calls at
// its start.
type openBlock struct{ unchecked, total int }

// requestCheck makes the next segment check the fuel.
func (b *body) requestCheck() { b.check, b.uncheckedCalls = true, 0 }

// join counts the calls at the end of a block, where paths meet. One of them may
// have passed no check inside the block.
func (b *body) join() {
	f := b.open[len(b.open)-1]
	if b.uncheckedCalls = f.unchecked + b.totalCalls - f.total; b.uncheckedCalls >= maxUncheckedCalls && len(b.open) > 1 {
		b.requestCheck()
	}
}

// scratchLocal returns the added local of a type.
func (b *body) scratchLocal(t byte) uint32 {
	at := b.at[t]
	i := b.local(&at, t)
	b.at[t] = at
	return i
}

// local returns the added local whose index plus one is in at.
func (b *body) local(at *uint32, t byte) uint32 {
	if *at == 0 {
		b.scratch = append(b.scratch, t)
		*at = uint32(b.locals) + uint32(len(b.scratch))
	}
	return *at - 1
}

// leb appends an unsigned LEB128 number.
func leb(b []byte, v uint64) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// sleb appends a signed LEB128 number.
func sleb(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && c&0x40 == 0) || (v == -1 && c&0x40 != 0) {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// op appends an instruction with an index.
func op(b []byte, code byte, index uint32) []byte { return leb(append(b, code), uint64(index)) }

// trapIf appends code that traps when the i32 on the stack is not zero.
func trapIf(b []byte) []byte { return append(b, opIf, blockEmpty, opUnreachable, opEnd) }

func (b *body) reset(fn int, in cursor, params int) {
	in.fn = fn
	*b = body{
		meter: b.meter, in: in, locals: uint64(params), out: b.out[:0], seg: b.seg[:0],
		scratch: b.scratch[:0], at: b.at, open: b.open[:0],
	}
	clear(b.at)
}
