package adaptive

import (
	"encoding/binary"

	"github.com/folkmoot/moot/policies/policy"
)

// The state is one JSON string (packing.go). It is a cache of what the room has
// said, so that a state that cannot be read, of another policy or of another
// version, counts as none: the room is learnt anew. It is below 16 KiB whatever
// was said (TestStateIsBounded).

// stateVersion is the first byte of a state.
const stateVersion = 4

// save writes the room.
func (r *room) save(m *model) policy.JSON {
	p := pen{b: r.packed[:0]}
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

// write turns what was packed into a JSON string.
func (r *room) write() policy.JSON {
	r.text = append(appendDigits(append(r.text[:0], '"'), r.packed), '"')
	return r.text
}

// restore reads what save wrote.
func (r *room) restore(j policy.JSON) {
	if r.used {
		r.forget()
	}
	r.used = true
	if len(j) < 2 || j[0] != '"' {
		return
	}
	b, ok := appendBytes(r.packed[:0], j[1:len(j)-1])
	r.packed = b
	in := reader{b: b}
	if !ok || in.below(256) != stateVersion || !r.read(&in) {
		r.forget()
	}
}

func (r *room) read(in *reader) bool {
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
	return !in.failed && r.sound()
}

// sound reports whether what was read can be worked with.
func (r *room) sound() bool {
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

// forget makes the room new and keeps its memory.
func (r *room) forget() {
	r.turns, r.people, r.streak, r.class = 0, r.people[:0], 0, [2]int{noClass, noClass}
	r.last = turn{bag: r.last.bag[:0]}
	r.before = earlier{}
	r.law, r.lawFast, r.law1 = [buckets]uint32{}, [buckets]float64{}, [classes][buckets]uint32{}
	r.kinds = [kindCount][kindCount]uint16{}
	clear(r.law2[:])
	clear(r.cells[:])
	r.inLaw2, r.inCells = marks{}, marks{}
	r.learnt, r.noted, r.current = learnt{}, nil, false
}

// personBytes is what a person takes without those named.
const personBytes = 18

func (p *pen) people(all []person) {
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

func (r *reader) people(all []person) []person {
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

// ids writes hashes.
func (p *pen) ids(all []uint32) {
	for _, id := range all {
		p.number(id)
	}
}

func (r *reader) ids(all []uint32) {
	for i := range all {
		all[i] = r.number()
	}
}

func (p *pen) turn(t *turn) {
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

func (r *reader) turn(t *turn) {
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
