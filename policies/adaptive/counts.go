package adaptive

import (
	"encoding/binary"
	"math/bits"
)

// How the counters are written: which are not 0, and those.

// writeLaw writes the law after two transitions; the others are its sums.
func (r *room) writeLaw(p *pen) {
	p.marks(r.inLaw2[:lawWords])
	for at, set := range r.inLaw2[:lawWords] {
		for ; set != 0; set &= set - 1 {
			p.word(int(r.law2[at*64+bits.TrailingZeros64(set)]))
		}
	}
	p.parts(r.lawFast[:], fractionUnit)
}

// lawWords is how many words of marks there are for the law.
const lawWords = (classes*classes*buckets + 63) / 64

func (r *room) readLaw(in *reader) {
	in.marks(r.inLaw2[:lawWords])
	for at, set := range r.inLaw2[:lawWords] {
		for ; set != 0; set &= set - 1 {
			i, n := at*64+bits.TrailingZeros64(set), in.word()
			if i >= len(r.law2) || n == 0 {
				in.fail()
				return
			}
			r.law2[i] = uint16(n)
			class, bucket := uint16(i)/(classes*buckets), uint16(i)%buckets
			r.law1[class][bucket] += uint32(n)
			r.law[bucket] += uint32(n)
		}
	}
	in.parts(r.lawFast[:], 1.0/fractionUnit)
}

// writeCells writes which words of eight cells are not 0, and of each of them
// which cells are not, and those.
func (r *room) writeCells(p *pen) {
	p.marks(r.inCells[:])
	for at, set := range r.inCells {
		for ; set != 0; set &= set - 1 {
			p.cells(r.cells[at*64+bits.TrailingZeros64(set)])
		}
	}
}

func (r *room) readCells(in *reader) {
	in.marks(r.inCells[:])
	for at, set := range r.inCells {
		for ; set != 0; set &= set - 1 {
			r.cells[at*64+bits.TrailingZeros64(set)] = in.cells()
		}
	}
}

// marks are 512 bits. Most counters are 0 in most rooms, and looking at each
// would take longer than all else.
type marks [8]uint64

func (m *marks) set(i int) { m[i/64&7] |= 1 << (i % 64) }

func (p *pen) marks(words []uint64) {
	b := p.more(8 * len(words))
	for i, w := range words {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
}

func (r *reader) marks(words []uint64) {
	b := r.take(8 * len(words))
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
}

// cells writes eight cells: a bit for each that is not 0, and those.
func (p *pen) cells(word uint64) {
	start, at := len(p.b), 1
	b := (*[16]byte)(p.more(16))
	set := filled(word)
	b[0] = byte(set)
	for ; set != 0; set &= set - 1 {
		b[at&15] = byte(word >> (8 * bits.TrailingZeros64(set)))
		at++
	}
	p.b = p.b[:start+at]
}

// filled has a bit for each byte of word that is not 0: the high bits of those
// are multiplied to the top.
func filled(word uint64) uint64 {
	const low, high = 0x7f7f7f7f7f7f7f7f, 0x8080808080808080
	set := (word&low + low | word) & high
	return set >> 7 * 0x0102040810204080 >> 56
}

func (r *reader) cells() (word uint64) {
	b, p := r.b, r.p
	if p >= len(b) {
		r.fail()
		return 0
	}
	set := uint64(b[p])
	p++
	if p+bits.OnesCount64(set) > len(b) {
		r.fail()
		return 0
	}
	for ; set != 0; set &= set - 1 {
		word |= uint64(b[p]) << (8 * bits.TrailingZeros64(set) & 63)
		p++
	}
	r.p = p
	return word
}

// halve halves all cells.
func (r *room) halve() {
	for i := range r.cells {
		r.cells[i] = r.cells[i] >> 1 & 0x7f7f7f7f7f7f7f7f
	}
}
