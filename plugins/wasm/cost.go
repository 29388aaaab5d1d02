package wasm

// Fuel that instructions cost, beyond 1 for most of them, such that 50 million
// units end within 100 ms on the compiler, whatever they are spent on: what is
// slow is dear, or a module would choose it. BenchmarkFuel of the package above
// measures the worst of each kind. Only what misses the cache at every load
// is slower than it is dear (making every load dear would take the fuel from
// those who mean well); the host has a clock for that.
const (
	costCheck    = 2   // at the head of a loop, on entering a function
	costCall     = 3   // frame, depth counter
	costIndirect = 6   // and the check of its type
	costImport   = 100 // leaves the compiled code
	costDivide   = 4
	costRoot     = 6
	costRound    = 3
	costGrow     = 200
	costBulk     = 50 // before its length counts
	costTable    = 3
	costSIMD     = 2
	costSIMDRoot = 12

	// Bytes, as a power of two, that one unit fills, copies or grows by.
	shiftBulk  = 3
	shiftGrow  = 12 // a page of 64 KiB costs 4096
	shiftTable = 2  // elements are charged four units each
)

// costs of the instructions that are one byte long.
var costs = func() (t [256]uint8) {
	for op := range t {
		switch s := shapes[op]; {
		case s == tableIndex:
			t[op] = costTable
		case op >= 0x6d && op <= 0x70, op >= 0x7f && op <= 0x82, op == 0x95, op == 0xa3: // div and rem
			t[op] = costDivide
		case op == 0x91, op == 0x9f: // sqrt
			t[op] = costRoot
		case op >= 0x8d && op <= 0x90, op >= 0x9b && op <= 0x9e, op >= 0xa8 && op <= 0xbf: // rounding, conversion
			t[op] = costRound
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

// A leaf is a function without loops and calls that costs so little that the
// fuel is not looked at in it. So that leaves do not add up to much, there is a
// look in a body after so many calls, whichever way it takes.
const (
	mostLeaf  = 128
	mostCalls = 1000
)
