package wasm

// Fuel that instructions cost; most cost 1. The costs are chosen so that 50
// million units end within 100 ms of compiled code for any mix of instructions.
// BenchmarkFuel of package pool measures the worst of each kind. Loads that miss
// the processor's cache are slower than their cost, because a higher cost of all
// loads would take fuel from honest modules; the host limits their time.
const (
	costCheck    = 2   // at the head of a loop, on entering a function
	costCall     = 3   // frame, depth counter
	costIndirect = 6   // and the check of its type
	costImport   = 100 // it leaves compiled code
	costDivide   = 4
	costSqrt     = 6
	costRound    = 3
	costGrow     = 200
	costRefFunc  = 500 // it leaves compiled code and allocates
	costBulk     = 50  // before the cost of its length
	costTable    = 3
	costSIMD     = 2
	costSIMDSqrt = 12

	// Bytes, as a power of two, that one unit fills, copies or grows.
	shiftBulk  = 3
	shiftGrow  = 12 // a page of 64 KiB costs 4096
	shiftTable = 2  // elements are charged four units each
)

// costs has the costs of the one-byte instructions.
var costs = func() (t [256]uint16) {
	for op := range t {
		switch s := shapes[op]; {
		case s == tableIndex:
			t[op] = costTable
		case op >= 0x6d && op <= 0x70, op >= 0x7f && op <= 0x82, op == 0x95, op == 0xa3: // div and rem
			t[op] = costDivide
		case op == 0x91, op == 0x9f: // sqrt
			t[op] = costSqrt
		case op >= 0x8d && op <= 0x90, op >= 0x9b && op <= 0x9e, op >= 0xa8 && op <= 0xbf: // rounding, conversion
			t[op] = costRound
		case op == opNop, op == opBlock, op == opLoop, op == opElse, op == opEnd:
			t[op] = 0
		default:
			t[op] = 1
		}
	}
	t[opCall], t[opCallIndirect], t[opMemoryGrow], t[opRefFunc] = costCall, costIndirect, costGrow, costRefFunc
	return t
}()

// A stack frame of compiled code holds the locals, and values that live across a
// call, of which there are at most as many as instructions. The depth of a call
// grows with the size of the frame, so that the limit of depth also limits the
// bytes of the stack.
const frameBytes = 16 << 10

func depthWeight(locals uint64, body int) int64 {
	return 1 + int64(8*locals+4*uint64(body))/frameBytes
}

// A leaf is a function without loops and calls that costs at most maxLeafCost. It
// does not check the fuel. So that calls of leaves do not add up, a body checks
// the fuel after maxUncheckedCalls calls on any path.
const (
	maxLeafCost       = 128
	maxUncheckedCalls = 1000
)
