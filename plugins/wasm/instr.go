package wasm

// An instr is one instruction, or what stands for some.
type instr struct {
	op  byte
	arg int64 // label, local, index, constant, type of a block, or alignment
	off uint32
}

// Instructions that stand for others; WebAssembly has none with these codes.
const (
	goJump   = 0xf0 + iota // to the unit of arg
	goJumpIf               // the same if the i32 on the stack is not 0
	goOut                  // branch to frame arg around the units
	goOutIf
	goColdIf // to cold block arg
)

// readInstrs reads instructions, as far as Go writes them.
func (c *cursor) readInstrs() (code []instr) {
	for c.more() {
		i := instr{op: c.byte()}
		switch shapes[i.op] {
		case none:
		case block: // Go has no types of blocks but the empty one and single values
			i.arg = int64(c.byte())
		case label, local, globalIndex, callee:
			i.arg = int64(c.u32())
		case indirect, memArg:
			i.arg = int64(c.u32())
			i.off = c.u32()
		case memIndex:
			c.byte()
		case const32, const64:
			i.arg = c.sleb()
		case raw4:
			i.arg = int64(number(c.take(4)))
		case raw8:
			i.arg = int64(number(c.take(8)))
		case labels:
			i.arg = int64(c.p) // where the list is
			for n := c.u32() + 1; n > 0 && !c.failed(); n-- {
				c.u32()
			}
		case bulkGroup:
			i.arg = int64(c.u32())
			switch {
			case i.arg < bulkMemoryInit:
			case i.arg == bulkMemoryCopy:
				c.take(2)
			case i.arg == bulkMemoryFill:
				c.byte()
			default:
				c.fail(Unsupported, "instruction 0xfc %d", i.arg)
			}
		default:
			c.fail(Unsupported, "instruction %#x", i.op)
		}
		code = append(code, i)
	}
	return code
}

// number reads a number of as many bytes, the lowest first.
func number(b []byte) (v uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
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

// appendInstr appends what readInstrs read.
func appendInstr(b []byte, i instr) []byte {
	b = append(b, i.op)
	switch shapes[i.op] {
	case block:
		b = append(b, byte(i.arg))
	case label, local, globalIndex, callee:
		b = leb(b, uint64(i.arg))
	case indirect, memArg:
		b = leb(leb(b, uint64(i.arg)), uint64(i.off))
	case memIndex:
		b = append(b, 0)
	case const32, const64:
		b = sleb(b, i.arg)
	case raw4:
		b = le(b, uint64(i.arg), 4)
	case raw8:
		b = le(b, uint64(i.arg), 8)
	case bulkGroup:
		b = leb(b, uint64(i.arg))
		switch i.arg {
		case bulkMemoryCopy:
			b = append(b, 0, 0)
		case bulkMemoryFill:
			b = append(b, 0)
		}
	}
	return b
}
