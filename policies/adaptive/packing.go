package adaptive

import (
	"encoding/binary"
	"math"
)

// The state is bytes, of numbers with the lowest byte first, written as text.
// Numbers have a fixed width, so that what has many of them is read and written
// without a branch for each.

// A pen writes bytes.
type pen struct{ b []byte }

func (p *pen) byte(n int)      { p.b = append(p.b, byte(n)) }
func (p *pen) word(n int)      { p.b = binary.LittleEndian.AppendUint16(p.b, uint16(n)) }
func (p *pen) number(n uint32) { p.b = binary.LittleEndian.AppendUint32(p.b, n) }

// more returns room for n bytes more.
func (p *pen) more(n int) []byte {
	start := len(p.b)
	if cap(p.b)-start < n {
		p.b = append(make([]byte, 0, 2*cap(p.b)+n), p.b...)
	}
	p.b = p.b[:start+n]
	return p.b[start:]
}

// parts writes all in parts of 1/unit.
func (p *pen) parts(all []float64, unit float64) {
	b := p.more(4 * len(all))
	for i, f := range all {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(int(f*unit)))
	}
}

// A reader reads what a pen wrote. What does not fit sets failed; from then on
// all is 0.
type reader struct {
	b      []byte
	p      int
	failed bool
}

// none is what a reader that failed reads.
var none [256]byte

func (r *reader) fail() { r.failed, r.p = true, len(r.b) }

// take returns the next n bytes, at most 256.
func (r *reader) take(n int) []byte {
	p := r.p
	if len(r.b)-p < n {
		r.fail()
		return none[:n]
	}
	r.p = p + n
	return r.b[p : p+n]
}

func (r *reader) word() int      { return int(binary.LittleEndian.Uint16(r.take(2))) }
func (r *reader) number() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }

// count reads what is not negative and small enough to be summed up.
func (r *reader) count() int {
	n := r.number()
	if n > maxNumber {
		r.fail()
		return 0
	}
	return int(n)
}

// maxNumber bounds what is read, so that sums do not overflow.
const maxNumber = 1 << 30

// below reads a byte that must be less than n.
func (r *reader) below(n int) int {
	x := int(r.take(1)[0])
	if x >= n {
		r.fail()
		return 0
	}
	return x
}

// parts reads what parts wrote.
func (r *reader) parts(all []float64, unit float64) {
	b := r.take(4 * len(all))
	for i := range all {
		all[i] = float64(int32(binary.LittleEndian.Uint32(b[4*i:]))) * unit
	}
}

// varint reads a number of any width that is most at most.
func (r *reader) varint(most uint64) uint64 {
	x, n := binary.Uvarint(r.b[r.p:])
	if n <= 0 || x > most {
		r.fail()
		return 0
	}
	r.p += n
	return x
}

// done reports whether all was read, and fitted.
func (r *reader) done() bool { return !r.failed && len(r.b)-r.p < sixBytes }

// within16 is x as a number of 16 bits with a sign, or the nearest there is.
func within16(x float64) int { return min(max(int(x), math.MinInt16), math.MaxInt16) }
