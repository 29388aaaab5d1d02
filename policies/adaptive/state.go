package adaptive

import "github.com/folkmoot/moot/policies/policy"

// The state is one JSON string: the bytes below in base64. It is a cache of
// what the room has said, so that a state that cannot be read, of another
// policy or of another version, counts as none: the room is learnt anew.
//
// Numbers are varints, fractions are float32, and runs of zeros are counted.
// The largest state there can be is below 16 KiB (TestStateIsBounded).

// stateVersion is the first number of a state.
const stateVersion = 2

// save writes the room.
func (r *room) save() policy.JSON {
	w := packer{b: r.packed[:0]}
	w.number(stateVersion)
	w.number(r.turns)
	w.number(r.streak)
	w.number(r.class[0])
	w.number(r.class[1])
	w.people(r.people)
	w.turn(&r.last)
	w.turn(&r.before)
	w.counts(r.law[:])
	for i := range r.law1 {
		w.counts(r.law1[i][:])
	}
	for i := range r.law2 {
		for j := range r.law2[i] {
			w.counts(r.law2[i][j][:])
		}
	}
	for i := range r.kinds {
		w.counts(r.kinds[i][:])
	}
	w.flush()
	w.cells(&r.cells)
	w.fractions(r.lawFast[:])
	w.flag(r.weighed)
	w.fractions(r.weights[:])
	w.fractions(r.correction[:])
	r.packed = w.b
	return armour(w.b)
}

// restore reads what save wrote.
func (r *room) restore(j policy.JSON) {
	r.forget()
	if j == nil {
		return
	}
	in := policy.NewReader(j)
	text := in.String()
	if in.End(); in.Err() != nil {
		return
	}
	w := unpacker{}
	if w.b, w.ok = disarm(r.packed[:0], text); !w.ok || w.number() != stateVersion {
		return
	}
	r.packed = w.b
	if !r.unpack(&w) {
		r.forget()
	}
}

func (r *room) unpack(w *unpacker) bool {
	r.turns, r.streak = w.number(), w.number()
	r.class = [2]int{w.below(classes), w.below(classes)}
	r.people = w.people(r.people[:0])
	w.turn(&r.last)
	w.turn(&r.before)
	w.counts(r.law[:])
	for i := range r.law1 {
		w.counts(r.law1[i][:])
	}
	for i := range r.law2 {
		for j := range r.law2[i] {
			w.counts(r.law2[i][j][:])
		}
	}
	for i := range r.kinds {
		w.counts(r.kinds[i][:])
	}
	w.settle()
	w.cells(&r.cells)
	w.fractions(r.lawFast[:])
	r.weighed = w.flag()
	w.fractions(r.weights[:])
	w.fractions(r.correction[:])
	return w.ok && len(w.b) == w.p && r.sound()
}

// sound reports whether what was read can be worked with.
func (r *room) sound() bool {
	if len(r.people) > r.turns || r.last.number != r.turns || r.before.number >= max(r.turns, 1) {
		return false
	}
	latest := r.turns + 1
	for i := range r.people {
		if p := &r.people[i]; p.turn >= latest || p.turn < 1 || !finite(p.fast) || p.id == 0 {
			return false
		}
		latest = r.people[i].turn
	}
	for _, all := range [...][]float32{r.lawFast[:], r.weights[:], r.correction[:]} {
		for _, f := range all {
			if !finite(f) {
				return false
			}
		}
	}
	return true
}

// finite reports whether f is a number of the size that room's numbers have.
func finite(f float32) bool { return f > -1e6 && f < 1e6 }

// forget makes the room new and keeps its memory.
func (r *room) forget() {
	*r = room{
		people: r.people[:0], last: turn{named: r.last.named[:0], bag: r.last.bag[:0]}, before: turn{named: r.before.named[:0]},
		class: [2]int{noClass, noClass}, scratch: r.scratch,
	}
}
