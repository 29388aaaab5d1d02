package adaptive

import "math/bits"

// How the counters are written: those that are not 0, each behind how many
// zeros precede it.

// writeLaw writes the law after two transitions; the others are its sums.
func (r *room) writeLaw(p *pen) {
	before := 0
	for i := r.inLaw2.next(0); i < len(r.law2); i = r.inLaw2.next(i + 1) {
		p.number(int(r.law2[i]))
		p.number(i - before)
		before = i + 1
	}
	p.number(0)
	p.fours(r.lawFast[:], fractionUnit, 0)
}

func (r *room) readLaw(in *reader) {
	at := 0
	for n := in.number(); n != 0; n = in.number() {
		at += in.number()
		if at >= len(r.law2) || n > most16 {
			in.fail()
			return
		}
		i, b := at/(classes*buckets), at%buckets
		r.law2[at] = uint16(n)
		r.inLaw2.set(at)
		r.law1[i][b] += uint32(n)
		r.law[b] += uint32(n)
		at++
	}
	in.fours(r.lawFast[:], 1.0/fractionUnit, 0)
}

// mostCells is how many digits the cells may take. When they need more all
// are halved, as when one of them overflows.
const mostCells = 7000

// writeCells writes the words of eight cells that are not 0: how many are
// before it, which of its cells are not 0, and those.
func (r *room) writeCells(p *pen) {
	start := len(p.b)
	for !r.tryCells(p, start+mostCells) {
		p.b = p.b[:start]
		r.halve()
	}
}

// tryCells reports whether all cells found room.
func (r *room) tryCells(p *pen, end int) bool {
	before := -1
	for i := r.inCells.next(0); i < len(r.cells); i = r.inCells.next(i + 1) {
		if len(p.b) > end {
			return false
		}
		p.number(i - before)
		p.cells(r.cells[i])
		before = i
	}
	p.number(0)
	return true
}

// marks are 512 bits. Most counters are 0 in most rooms, and looking at each
// would take longer than all else.
type marks [8]uint64

func (m *marks) set(i int) { m[i/64&7] |= 1 << (i % 64) }

// next returns the next bit from i on that is set, or 512.
func (m *marks) next(i int) int {
	for w := i / 64; w < len(m); w++ {
		if rest := m[w] >> (i % 64); rest != 0 {
			return i + bits.TrailingZeros64(rest)
		}
		i = (w + 1) * 64
	}
	return 64 * len(m)
}

// cells writes eight cells: which are not 0, and those.
func (p *pen) cells(word uint64) {
	start := len(p.b)
	b := p.more(2 + 8*2)
	at, mask := 2, 0
	for bit := 1; word != 0; bit, word = bit<<1, word>>8 {
		n := int(word & 255)
		if n == 0 {
			continue
		}
		mask |= bit
		if n >= 32 {
			b[at] = digits[n&31|32]
			at++
			n >>= 5
		}
		b[at] = digits[n&31]
		at++
	}
	b[0], b[1] = digits[mask>>6&63], digits[mask&63]
	p.b = p.b[:start+at]
}

func (r *room) readCells(in *reader) {
	at := -1
	for gap := in.number(); gap != 0; gap = in.number() {
		if at += gap; at >= len(r.cells) {
			in.fail()
			return
		}
		r.cells[at] = in.cells()
		r.inCells.set(at)
	}
}

func (r *reader) cells() (word uint64) {
	b, p := r.b, r.p+2
	if p > len(b) {
		r.fail()
		return 0
	}
	mask := uint(values[b[p-2]])<<6 | uint(values[b[p-1]])
	for shift := uint(0); mask != 0; shift, mask = shift+8, mask>>1 {
		if mask&1 == 0 {
			continue
		}
		if p >= len(b) || shift >= 64 {
			break
		}
		n := uint64(values[b[p]])
		p++
		if n >= 32 && p < len(b) {
			n = n&31 | uint64(values[b[p]])<<5
			p++
		}
		if n > cellMost {
			break
		}
		word |= n << shift
	}
	if r.p = p; mask != 0 {
		r.fail()
	}
	return word
}

// halve halves all cells.
func (r *room) halve() {
	for i := range r.cells {
		r.cells[i] = r.cells[i] >> 1 & 0x7f7f7f7f7f7f7f7f
	}
}
