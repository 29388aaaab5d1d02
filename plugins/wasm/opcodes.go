package wasm

// Opcodes that the rewriter uses.
const (
	opUnreachable  = 0x00
	opNop          = 0x01
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opDrop         = 0x1a
	opSelect       = 0x1b
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opTableSet     = 0x26
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32Ne        = 0x47
	opI32LtS       = 0x48
	opI32LeU       = 0x4d
	opI32GeU       = 0x4f
	opI64LtS       = 0x53
	opI64GeS       = 0x59
	opI64GeU       = 0x5a
	opF32Eq        = 0x5b
	opF64Eq        = 0x61
	opI32Sub       = 0x6b
	opI32And       = 0x71
	opI64Sub       = 0x7d
	opI64And       = 0x83
	opI64ShrU      = 0x88
	opI64Shl       = 0x86
	opI64ExtendU   = 0xad
	opRefNull      = 0xd0
	opRefFunc      = 0xd2
	opBulk         = 0xfc
	opSIMD         = 0xfd

	blockEmpty = 0x40

	bulkMemoryInit = 8
	bulkDataDrop   = 9
	bulkMemoryCopy = 10
	bulkMemoryFill = 11
	bulkTableInit  = 12
	bulkElemDrop   = 13
	bulkTableCopy  = 14
	bulkTableGrow  = 15
	bulkTableSize  = 16
	bulkTableFill  = 17

	simdConst     = 12
	simdShuffle   = 13
	simdF32x4Eq   = 0x41
	simdF64x2Eq   = 0x47
	simdBitselect = 0x52
	simdLast      = 0xff
)

// A shape is the format of the immediate operands of an instruction.
type shape uint8

const (
	none    shape = iota // nothing
	refused              // unsupported instruction
	block                // a block type
	label
	labels // of br_table
	callee // a function
	indirect
	selectTyped
	local
	globalIndex
	tableIndex
	memArg   // alignment and offset
	memIndex // one byte, zero
	const32  // signed LEB128
	const64
	raw4
	raw8
	refType
	funcIndex
	bulkGroup
	simdGroup
)

// shapes has the shapes of the one-byte instructions of WebAssembly 2.0.
var shapes = func() (t [256]shape) {
	for op := range t {
		switch {
		case op >= 0x45 && op <= 0xc4, op == 0x00, op == 0x01, op == opElse, op == opEnd, op == opReturn,
			op == 0x1a, op == opSelect, op == 0xd1:
			t[op] = none
		case op >= 0x28 && op <= 0x3e:
			t[op] = memArg
		default:
			t[op] = refused
		}
	}
	for op, s := range map[int]shape{
		opBlock: block, opLoop: block, opIf: block, opBr: label, opBrIf: label, opBrTable: labels,
		opCall: callee, opCallIndirect: indirect, 0x1c: selectTyped, opLocalGet: local, opLocalSet: local,
		opLocalTee: local, opGlobalGet: globalIndex, opGlobalSet: globalIndex, 0x25: tableIndex, opTableSet: tableIndex,
		0x3f: memIndex, opMemoryGrow: memIndex, opI32Const: const32, opI64Const: const64, opF32Const: raw4,
		opF64Const: raw8, opRefNull: refType, opRefFunc: funcIndex, opBulk: bulkGroup, opSIMD: simdGroup,
	} {
		t[op] = s
	}
	return t
}()

// ordersIntegers reports whether an instruction compares integers for their
// order.
func ordersIntegers(op byte) bool {
	return op >= opI32LtS && op <= opI32GeU || op >= opI64LtS && op <= opI64GeU
}

// makesNaN reports whether an instruction can make a NaN whose bits WebAssembly
// leaves open, and of which type: arithmetic, rounding, minimum, maximum and
// conversion between floats. Instructions that only move bits do not (neg, abs,
// copysign, loads).
func makesNaN(op byte) (typ byte, yes bool) {
	switch {
	case op >= 0x8d && op <= 0x97, op == 0xb6: // f32.ceil to f32.max, f32.demote_f64
		return typeF32, true
	case op >= 0x9b && op <= 0xa5, op == 0xbb: // f64.ceil to f64.max, f64.promote_f32
		return typeF64, true
	}
	return 0, false
}

// hidesNaN reports whether an instruction pops a float of a type and gives a
// result that does not depend on the bits of a NaN: comparisons, and instructions
// whose own result is made canonical.
func hidesNaN(typ, op byte) bool {
	if t, yes := makesNaN(op); yes {
		return t == typ && op != 0xb6 && op != 0xbb // they take the other type
	}
	return typ == typeF32 && op >= opF32Eq && op <= 0x60 || typ == typeF64 && op >= opF64Eq && op <= 0x66
}

// simdMakesNaN is makesNaN for vectors. It returns the instruction that compares
// the lanes for equality.
func simdMakesNaN(sub uint32) (equal uint32, yes bool) {
	switch {
	case sub >= 0x67 && sub <= 0x6a, sub >= 0xe3 && sub <= 0xe9, sub == 0x5e: // f32x4
		return simdF32x4Eq, true
	case sub == 0x74, sub == 0x75, sub == 0x7a, sub == 0x94, sub >= 0xef && sub <= 0xf5, sub == 0x5f: // f64x2
		return simdF64x2Eq, true
	}
	return 0, false
}
