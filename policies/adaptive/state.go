package adaptive

import (
	"encoding/binary"
	"math/bits"

	"github.com/folkmoot/moot/policies/policy"
)

// The state is one JSON string (see packing.go) of less than 16 KiB
// (TestStateIsBounded). It is derived from the messages of the room. A state that
// cannot be decoded, of another policy or version, counts as no state: the policy
// then learns the room again.

// stateVersion is the first byte of a state.
const stateVersion = 4

// save encodes the room.
func (r *room) save(m *model) policy.JSON {
	p := encoder{b: r.packed[:0]}
	p.byte(stateVersion)
	p.number(uint32(r.turns))
	p.number(uint32(r.streak))
	p.byte(r.class[0])
	p.byte(r.class[1])
	p.people(r.people)
	p.turn(&r.last)
	p.number(uint32(r.before.number))
	p.byte(r.before.named.n)
	p.ids(r.before.named.list())
	for i := range r.kinds {
		for _, n := range r.kinds[i][:] {
			p.word(int(n))
		}
	}
	r.writeLaw(&p)
	r.writeCells(&p)
	p.byte(m.n * sign(r.weighed))
	if r.weighed {
		p.parts(r.weights[:m.n], fineUnit)
	}
	n := m.corrected()
	p.byte(n)
	p.parts(r.correction[:n], fineUnit)
	r.note(&p, m)
	r.packed = p.b
	return r.write()
}

// write returns the encoded bytes as a JSON string.
func (r *room) write() policy.JSON {
	r.text = append(appendDigits(append(r.text[:0], '"'), r.packed), '"')
	return r.text
}

// restore decodes the state.
func (r *room) restore(j policy.JSON) {
	if r.used {
		r.reset()
	}
	r.used = true
	if len(j) < 2 || j[0] != '"' {
		return
	}
	b, ok := appendBytes(r.packed[:0], j[1:len(j)-1])
	r.packed = b
	in := decoder{b: b}
	if !ok || in.below(256) != stateVersion || !r.read(&in) {
		r.reset()
	}
}

func (r *room) read(in *decoder) bool {
	r.turns, r.streak = in.count(), in.count()
	r.class = [2]int{in.below(classes), in.below(classes)}
	r.people = in.people(r.people[:0])
	in.turn(&r.last)
	r.before.number = in.count()
	r.before.named.n = in.below(maxNames + 1)
	in.ids(r.before.named.list())
	for i := range r.kinds {
		for j := range r.kinds[i] {
			r.kinds[i][j] = uint16(in.word())
		}
	}
	r.readLaw(in)
	r.readCells(in)
	n := in.below(components + 1)
	r.weighed, r.components = n > 0, n
	in.parts(r.weights[:n], 1.0/fineUnit)
	n = in.below(correctable + 1)
	in.parts(r.correction[:n], 1.0/fineUnit)
	r.noted = in.b[in.p:]
	return !in.failed && r.valid()
}

// valid reports whether the decoded numbers are consistent.
func (r *room) valid() bool {
	if len(r.people) > r.turns || r.turns > 0 && len(r.people) == 0 || r.before.number >= max(r.turns, 1) {
		return false
	}
	sum := 0.0
	for _, a := range r.weights[:r.components] {
		sum += a
	}
	if r.weighed && (sum < .99 || sum > 1.01) {
		return false
	}
	latest := r.turns + 1
	for i := range r.people {
		p := &r.people[i]
		if p.turn >= latest || p.turn < 1 || i == 0 && p.turn != r.turns {
			return false
		}
		latest = p.turn
	}
	return true
}

// reset makes the room empty and keeps its memory.
func (r *room) reset() {
	r.turns, r.people, r.streak, r.class = 0, r.people[:0], 0, [2]int{noClass, noClass}
	r.last = turn{bag: r.last.bag[:0]}
	r.before = earlier{}
	r.law, r.lawFast, r.law1 = [buckets]uint32{}, [buckets]float64{}, [classes][buckets]uint32{}
	r.kinds = [kindCount][kindCount]uint16{}
	clear(r.law2[:])
	clear(r.cells[:])
	r.inLaw2, r.inCells = marks{}, marks{}
	r.onlineWeights, r.noted, r.current = onlineWeights{}, nil, false
}

// personBytes is the encoded size of a person without its mentions.
const personBytes = 18

func (p *encoder) people(all []person) {
	p.byte(len(all))
	for i := range all {
		w := &all[i]
		b := (*[personBytes]byte)(p.more(personBytes))
		binary.LittleEndian.PutUint32(b[0:], w.id)
		binary.LittleEndian.PutUint32(b[4:], uint32(w.turn))
		binary.LittleEndian.PutUint32(b[8:], uint32(w.count))
		binary.LittleEndian.PutUint32(b[12:], uint32(int(w.fast*fractionUnit)))
		b[16], b[17] = byte(w.slot), byte(sign(w.marked)|sign(w.asked)<<1|w.named.n<<2)
		p.ids(w.named.list())
	}
}

func (r *decoder) people(all []person) []person {
	for range r.below(maxPeople + 1) {
		if n := len(all); n < cap(all) {
			all = all[:n+1]
		} else {
			all = append(all, person{})
		}
		w := &all[len(all)-1]
		b := (*[personBytes]byte)(r.take(personBytes))
		turn, count, fast := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])
		slot, bits := int(b[16]), int(b[17])
		if turn > maxNumber || count > maxNumber || fast > maxNumber || slot >= maxPeople || bits>>2 > maxNames {
			r.fail()
			return all
		}
		w.id, w.slot, w.turn, w.count = binary.LittleEndian.Uint32(b[0:]), slot, int(turn), int(count)
		w.fast = float64(fast) * (1.0 / fractionUnit)
		w.marked, w.asked, w.named.n = bits&1 != 0, bits&2 != 0, bits>>2
		r.ids(w.named.list())
	}
	return all
}

// ids encodes hashes.
func (p *encoder) ids(all []uint32) {
	for _, id := range all {
		p.number(id)
	}
}

func (r *decoder) ids(all []uint32) {
	for i := range all {
		all[i] = r.number()
	}
}

func (p *encoder) turn(t *turn) {
	p.byte(t.names)
	for _, n := range t.named() {
		p.number(n.who)
		p.byte(int(n.sign))
	}
	p.number(t.voc)
	p.byte(sign(t.question) | sign(t.asks)<<1 | sign(t.code)<<2 | t.words<<3)
	p.byte(len(t.bag))
	for _, word := range t.bag {
		p.word(int(word))
	}
}

func (r *decoder) turn(t *turn) {
	t.names = r.below(maxNames + 1)
	for i := range t.named() {
		t.name[i] = name{who: r.number(), sign: uint8(r.below(1 << 5))}
	}
	t.voc = r.number()
	bits := r.below((shortTurn + 2) << 3)
	t.question, t.asks, t.code, t.words = bits&1 != 0, bits&2 != 0, bits&4 != 0, bits>>3
	for range r.below(maxWords + 1) {
		t.bag = append(t.bag, uint16(r.word()))
	}
}

// Counters are encoded sparsely: a bitmap of those that are not 0, and their
// values.

// writeLaw encodes law2; law1 and law are its sums.
func (r *room) writeLaw(p *encoder) {
	p.marks(r.inLaw2[:lawWords])
	for at, set := range r.inLaw2[:lawWords] {
		for ; set != 0; set &= set - 1 {
			p.word(int(r.law2[at*64+bits.TrailingZeros64(set)]))
		}
	}
	p.parts(r.lawFast[:], fractionUnit)
}

// lawWords is the size of the bitmap of law2 in words.
const lawWords = (classes*classes*buckets + 63) / 64

func (r *room) readLaw(in *decoder) {
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

// writeCells encodes the cells: a bitmap of the words that are not 0, and these
// words.
func (r *room) writeCells(p *encoder) {
	p.marks(r.inCells[:])
	for at, set := range r.inCells {
		for ; set != 0; set &= set - 1 {
			p.cells(r.cells[at*64+bits.TrailingZeros64(set)])
		}
	}
}

func (r *room) readCells(in *decoder) {
	in.marks(r.inCells[:])
	for at, set := range r.inCells {
		for ; set != 0; set &= set - 1 {
			r.cells[at*64+bits.TrailingZeros64(set)] = in.cells()
		}
	}
}

// marks is a bitmap of 512 bits. It makes it cheap to skip counters that are 0,
// which most are in most rooms.
type marks [8]uint64

func (m *marks) set(i int) { m[i/64&7] |= 1 << (i % 64) }

func (p *encoder) marks(words []uint64) {
	b := p.more(8 * len(words))
	for i, w := range words {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
}

func (r *decoder) marks(words []uint64) {
	b := r.take(8 * len(words))
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
}

// cells encodes a word of eight cells: a bitmap of those that are not 0, and
// their values.
func (p *encoder) cells(word uint64) {
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

// filled returns a bitmap of the bytes of word that are not 0. A multiplication
// gathers their high bits.
func filled(word uint64) uint64 {
	const low, high = 0x7f7f7f7f7f7f7f7f, 0x8080808080808080
	set := (word&low + low | word) & high
	return set >> 7 * 0x0102040810204080 >> 56
}

func (r *decoder) cells() (word uint64) {
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
