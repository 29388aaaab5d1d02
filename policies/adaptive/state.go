package adaptive

import "github.com/folkmoot/moot/policies/policy"

// The state is one JSON string of digits (digits.go). It is a cache of what
// the room has said, so that a state that cannot be read, of another policy or
// of another version, counts as none: the room is learnt anew. It is below 16
// KiB whatever was said (TestStateIsBounded).

// stateVersion is the first number of a state.
const stateVersion = 3

// save writes the room.
func (r *room) save(m *model) policy.JSON {
	p := pen{b: append(r.text[:0], '"')}
	p.number(stateVersion)
	p.number(r.turns)
	p.number(r.streak)
	p.number(r.class[0])
	p.number(r.class[1])
	p.people(r.people)
	p.turn(&r.last)
	p.number(r.before.number)
	p.group(&r.before.named)
	for i := range r.kinds {
		for _, n := range r.kinds[i][:] {
			p.number(int(n))
		}
	}
	r.writeLaw(&p)
	r.writeCells(&p)
	p.number(m.n * sign(r.weighed))
	if r.weighed {
		p.fours(r.weights[:m.n], fineUnit, 0)
	}
	n := m.corrected()
	p.number(n)
	p.fours(r.correction[:n], fineUnit, fineZero)
	r.note(&p, m)
	p.b = append(p.b, '"')
	r.text = p.b
	return p.b
}

// restore reads what save wrote.
func (r *room) restore(j policy.JSON) {
	r.forget()
	if len(j) < 2 || j[0] != '"' {
		return
	}
	in := reader{b: j[1 : len(j)-1]}
	if in.number() != stateVersion || !r.read(&in) {
		r.forget()
	}
}

func (r *room) read(in *reader) bool {
	r.turns, r.streak = in.number(), in.number()
	r.class = [2]int{in.below(classes), in.below(classes)}
	r.people = in.people(r.people[:0])
	in.turn(&r.last)
	r.before.number = in.number()
	in.group(&r.before.named)
	for i := range r.kinds {
		for j := range r.kinds[i] {
			r.kinds[i][j] = uint16(in.below(most16 + 1))
		}
	}
	r.readLaw(in)
	r.readCells(in)
	n := in.below(components + 1)
	r.weighed, r.components = n > 0, n
	in.fours(r.weights[:n], 1.0/fineUnit, 0)
	n = in.below(correctable + 1)
	in.fours(r.correction[:n], 1.0/fineUnit, fineZero)
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

func (p *pen) people(all []person) {
	p.number(len(all))
	for i := range all {
		w := &all[i]
		p.id(w.id)
		p.number(w.slot)
		p.number(w.turn)
		p.number(w.count)
		p.number(int(w.fast * fractionUnit))
		p.number(sign(w.marked) | sign(w.asked)<<1)
		p.group(&w.named)
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
		w.id, w.slot, w.turn, w.count = r.id(), r.below(maxPeople), r.number(), r.number()
		w.fast = float64(r.number()) * (1.0 / fractionUnit)
		bits := r.below(4)
		w.marked, w.asked = bits&1 != 0, bits&2 != 0
		r.group(&w.named)
	}
	return all
}

func (p *pen) group(g *group) {
	p.number(g.n)
	for _, who := range g.list() {
		p.id(who)
	}
}

func (r *reader) group(g *group) {
	g.n = r.below(maxNames + 1)
	for i := range g.list() {
		g.who[i] = r.id()
	}
}

func (p *pen) turn(t *turn) {
	p.number(t.names)
	for _, n := range t.named() {
		p.id(n.who)
		p.number(int(n.sign))
	}
	p.id(t.voc)
	p.number(sign(t.question) | sign(t.asks)<<1 | sign(t.code)<<2 | t.words<<3)
	p.number(len(t.bag))
	for _, word := range t.bag {
		p.three(int(word))
	}
}

func (r *reader) turn(t *turn) {
	t.names = r.below(maxNames + 1)
	for i := range t.named() {
		t.name[i] = name{who: r.id(), sign: uint8(r.below(1 << 5))}
	}
	t.voc = r.id()
	bits := r.below((shortTurn + 2) << 3)
	t.question, t.asks, t.code, t.words = bits&1 != 0, bits&2 != 0, bits&4 != 0, bits>>3
	for range r.below(maxWords + 1) {
		t.bag = append(t.bag, uint16(r.three()))
	}
}
