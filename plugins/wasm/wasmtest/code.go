package wasmtest

import "slices"

// Instructions without operands, and the first bytes of others.
const (
	Unreachable = 0x00
	Nop         = 0x01
	Else        = 0x05
	End         = 0x0b
	Return      = 0x0f
	Drop        = 0x1a
	Select      = 0x1b
	I32Eqz      = 0x45
	I32Eq       = 0x46
	I32Ne       = 0x47
	I32LtU      = 0x49
	I32GtU      = 0x4b
	I64Eqz      = 0x50
	I32Add      = 0x6a
	I32Sub      = 0x6b
	I32Mul      = 0x6c
	I32DivS     = 0x6d
	I32DivU     = 0x6e
	I32And      = 0x71
	I32Or       = 0x72
	I32Xor      = 0x73
	I32Shl      = 0x74
	I32RemU     = 0x70
	I32ShrU     = 0x76
	I64Add      = 0x7c
	I64Mul      = 0x7e
	I64DivU     = 0x80
	I64Or       = 0x84
	I64Xor      = 0x85
	I64Shl      = 0x86
	I64ExtendU  = 0xad
)

// Empty is the type of a block without parameters and results.
const Empty = 0x40

// Op returns instructions without operands.
func Op(ops ...byte) []byte { return ops }

// U32 encodes an unsigned number.
func U32(v uint32) []byte { return unsigned(uint64(v)) }

func unsigned(v uint64) []byte {
	var b []byte
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func signed(v int64) []byte {
	var b []byte
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && c&0x40 == 0) || (v == -1 && c&0x40 != 0) {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// I32Const pushes a constant.
func I32Const(v int32) []byte { return append([]byte{0x41}, signed(int64(v))...) }

// I64Const pushes a constant.
func I64Const(v int64) []byte { return append([]byte{0x42}, signed(v)...) }

// Call calls a function.
func Call(f uint32) []byte { return append([]byte{0x10}, U32(f)...) }

// CallIndirect calls through the table.
func CallIndirect(typ, table uint32) []byte {
	return slices.Concat([]byte{0x11}, U32(typ), U32(table))
}

// LocalGet pushes a local.
func LocalGet(i uint32) []byte { return append([]byte{0x20}, U32(i)...) }

// LocalSet pops into a local.
func LocalSet(i uint32) []byte { return append([]byte{0x21}, U32(i)...) }

// LocalTee copies into a local.
func LocalTee(i uint32) []byte { return append([]byte{0x22}, U32(i)...) }

// GlobalGet pushes a global.
func GlobalGet(i uint32) []byte { return append([]byte{0x23}, U32(i)...) }

// GlobalSet pops into a global.
func GlobalSet(i uint32) []byte { return append([]byte{0x24}, U32(i)...) }

// Block encloses code that a branch leaves.
func Block(code ...[]byte) []byte { return enclose(0x02, code) }

// Loop encloses code that a branch repeats.
func Loop(code ...[]byte) []byte { return enclose(0x03, code) }

// If encloses code that runs when what it pops is not zero.
func If(code ...[]byte) []byte { return enclose(0x04, code) }

func enclose(op byte, code [][]byte) []byte {
	return slices.Concat([]byte{op, Empty}, slices.Concat(code...), []byte{End})
}

// Br branches.
func Br(depth uint32) []byte { return append([]byte{0x0c}, U32(depth)...) }

// BrIf branches when what it pops is not zero.
func BrIf(depth uint32) []byte { return append([]byte{0x0d}, U32(depth)...) }

// BrTable branches to one of the depths, or the last.
func BrTable(depths ...uint32) []byte {
	b := append([]byte{0x0e}, U32(uint32(len(depths)-1))...)
	for _, d := range depths {
		b = append(b, U32(d)...)
	}
	return b
}

// Mem is an access to memory: opcode, alignment, offset.
func Mem(op byte, align, offset uint32) []byte {
	return slices.Concat([]byte{op}, U32(align), U32(offset))
}

// MemorySize pushes the number of pages.
func MemorySize() []byte { return []byte{0x3f, 0} }

// MemoryGrow grows by what it pops.
func MemoryGrow() []byte { return []byte{0x40, 0} }

// Bulk is an instruction of the 0xfc group.
func Bulk(sub uint32, operands ...byte) []byte {
	return slices.Concat([]byte{0xfc}, U32(sub), operands)
}

// Repeat repeats code.
func Repeat(n int, code ...[]byte) []byte {
	one := slices.Concat(code...)
	out := make([]byte, 0, n*len(one))
	for range n {
		out = append(out, one...)
	}
	return out
}
