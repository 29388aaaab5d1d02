package wasm

// Fuel that instructions cost, beyond 1 for most of them. A unit is about two
// nanoseconds at most on the compiler of the slowest machine we measured on,
// so that 50 million end within 100 ms there: what is slow has to be dear, or a
// module would choose it. BenchmarkFuel measures the worst of each kind.
const (
	costSegment  = 2   // the charge itself
	costCall     = 4   // frame, depth counter
	costIndirect = 8   // and the check of its type
	costImport   = 100 // leaves the compiled code
	costMemory   = 8   // a load or store that misses the cache
	costDivide   = 8
	costRoot     = 8
	costGrow     = 200
	costBulk     = 100 // before its length counts
	costTable    = 4
	costSIMD     = 2

	// Bytes, as a power of two, that one unit fills, copies or grows by.
	shiftBulk  = 4
	shiftGrow  = 12 // a page of 64 KiB costs 4096
	shiftTable = 2  // elements are charged four units each
)

// costs of the instructions that are one byte long.
var costs = func() (t [256]uint8) {
	for op := range t {
		switch s := shapes[op]; {
		case s == memArg:
			t[op] = costMemory
		case s == tableIndex:
			t[op] = costTable
		case op >= 0x6d && op <= 0x70, op >= 0x7f && op <= 0x82, op == 0x95, op == 0xa3: // div and rem
			t[op] = costDivide
		case op == 0x91, op == 0x9f: // sqrt
			t[op] = costRoot
		case op == opNop, op == opBlock, op == opLoop, op == opElse, op == opEnd:
			t[op] = 0
		default:
			t[op] = 1
		}
	}
	t[opCall], t[opCallIndirect], t[opMemoryGrow] = costCall, costIndirect, costGrow
	return t
}()

// A frame of compiled code takes stack for every local and for values that
// wait while it calls, of which there are never more than instructions. The
// depth that a call takes grows with that, so that MaxDepth bounds the bytes
// of the stack as well as the calls.
const frameBytes = 16 << 10

func frameWeight(locals uint64, body int) int64 {
	return 1 + int64(8*locals+4*uint64(body))/frameBytes
}
