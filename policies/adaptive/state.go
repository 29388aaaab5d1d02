package adaptive

import (
	"math"
	"unsafe"

	"github.com/folkmoot/moot/policies/policy"
)

// The state is a JSON array of strings of less than 16 KiB (TestStateIsBounded): the
// first one is an array of numbers, and ids follow in the order of their use. The
// host passes strings on faster than numbers, which it checks. The state is derived
// from the messages of the room. A state that cannot be decoded, of another policy
// or version, counts as no state: the policy then learns the room again.

// stateVersion is the first number of a state.
const stateVersion = 7

// maxState is more than the size of any state, in bytes.
const maxState = 16 << 10

// save encodes the room. Numbers with a fraction are in millionths.
func (r *room) save() policy.JSON {
	w := policy.NewWriter(r.numbers[:0])
	w.Array()
	w.Int(stateVersion)
	w.Int(int64(r.turns))
	w.Int(int64(r.class))
	for class := range r.recency {
		for _, n := range r.recency[class] {
			w.Int(int64(n))
		}
	}
	writeAll(&w, r.weights[:])
	r.savePeople(&w)
	r.saveTurn(&w)
	w.Bool(r.note.set)
	writeAll(&w, r.note.newcomer[:])
	writeAll(&w, r.note.sums[:])
	w.Array()
	for _, t := range r.topics {
		w.Int(int64(t.stem))
		writeAll(&w, []float64{t.count})
	}
	w.EndArray()
	w.EndArray()
	r.numbers = w.Bytes()
	return r.saveStrings()
}

// saveStrings encodes the array of numbers and the ids.
func (r *room) saveStrings() policy.JSON {
	r.text, r.spare = r.spare, r.text
	w := policy.NewWriter(r.text[:0])
	w.Array()
	w.String(unsafe.String(unsafe.SliceData(r.numbers), len(r.numbers)))
	for i := range r.people {
		w.String(r.people[i].id)
	}
	for i := range r.named {
		w.String(r.named[i].id)
	}
	w.String(r.last.addressed)
	w.String(r.last.named)
	w.EndArray()
	r.text = w.Bytes()
	return r.text
}

func writeAll(w *policy.Writer, all []float64) {
	for _, f := range all {
		w.Int(int64(math.Floor(f*fineUnit + .5)))
	}
}

func (r *room) savePeople(w *policy.Writer) {
	w.Array()
	for i := range r.people {
		p := &r.people[i]
		w.Array()
		w.Int(int64(p.turn))
		writeAll(w, []float64{p.fast})
		writeAll(w, p.part[:])
		w.EndArray()
	}
	w.EndArray()
	w.Array()
	for _, n := range r.named {
		w.Array()
		w.Int(int64(n.turn))
		w.Int(int64(n.before))
		w.EndArray()
	}
	w.EndArray()
}

func (r *room) saveTurn(w *policy.Writer) {
	t := &r.last
	w.Bool(t.code)
	w.Bool(t.question)
	w.Bool(t.short)
	w.Array()
	for _, word := range t.words {
		w.Int(int64(word))
	}
	w.EndArray()
}

// restore decodes the state.
func (r *room) restore(j policy.JSON) {
	r.reset()
	d := decoder{ids: policy.NewReader(j)}
	d.ids.Array()
	d.Reader = policy.NewReader([]byte(d.string()))
	if len(j) > 0 && !r.read(&d) {
		r.reset()
	}
}

// reset makes the room empty and keeps its memory.
func (r *room) reset() {
	*r = room{
		people: r.people[:0], named: r.named[:0], last: turn{words: r.last.words[:0]},
		topics: r.topics[:0], labels: r.labels[:0], ends: r.ends[:0], noRoles: r.noRoles,
		team: r.team, rows: r.rows[:0], text: r.text, spare: r.spare, numbers: r.numbers,
	}
	for j := range r.weights {
		r.weights[j] = r.start(j)
	}
}

func (r *room) read(d *decoder) bool {
	d.Array()
	if d.int(stateVersion) != stateVersion {
		return false
	}
	r.turns = d.int(maxNumber)
	r.class = d.int(buckets - 1)
	for class := range r.recency {
		for b := range r.recency[class] {
			r.recency[class][b] = d.int(maxNumber)
		}
	}
	d.fractions(r.weights[:])
	r.readPeople(d)
	r.readTurn(d)
	r.note.set = d.More() && d.Bool()
	d.fractions(r.note.newcomer[:])
	d.fractions(r.note.sums[:])
	for d.list(); d.More(); {
		r.topics = append(r.topics, topic{stem: uint64(d.Int()), count: d.fraction()})
		if len(r.topics) > maxTopics {
			d.Fail("too many topics")
		}
	}
	if d.More() || d.ids.More() {
		return false
	}
	d.End()
	d.ids.End()
	return d.Err() == nil && d.ids.Err() == nil && r.valid()
}

func (r *room) readPeople(d *decoder) {
	for d.list(); d.More(); {
		d.Array()
		p := person{id: d.string(), turn: d.int(maxNumber), fast: d.fraction()}
		d.fractions(p.part[:])
		d.close()
		if r.people = append(r.people, p); len(r.people) > maxPeople {
			d.Fail("too many people")
		}
	}
	for d.list(); d.More(); {
		d.Array()
		r.named = append(r.named, naming{d.string(), d.int(maxNumber), d.int(maxNumber)})
		d.close()
		if len(r.named) > maxNamed {
			d.Fail("too many names")
		}
	}
}

func (r *room) readTurn(d *decoder) {
	t := &r.last
	t.addressed, t.named = d.string(), d.string()
	t.code = d.More() && d.Bool()
	t.question = d.More() && d.Bool()
	t.short = d.More() && d.Bool()
	for d.list(); d.More(); {
		t.words = append(t.words, uint16(d.Int()))
		if len(t.words) > maxWords {
			d.Fail("too many words")
		}
	}
}

// valid reports whether the decoded numbers are consistent. Weights that belong to
// other settings begin again.
func (r *room) valid() bool {
	latest := r.turns + 1
	for i := range r.people {
		p := &r.people[i]
		if p.turn >= latest || p.turn < 1 || i == 0 && p.turn != r.turns {
			return false
		}
		latest = p.turn
	}
	sum := 0.0
	for _, a := range r.weights {
		sum += a
	}
	if sum < .99 || sum > 1.01 || (r.team == nil) != (r.weights[taught] == 0) {
		for j := range r.weights {
			r.weights[j] = r.start(j)
		}
		r.note = note{}
	}
	return (r.turns == 0) == (len(r.people) == 0)
}

// maxNumber bounds the numbers of a state.
const maxNumber = 1 << 40

// A decoder reads the elements of an array of numbers, and ids from another array.
type decoder struct {
	policy.Reader
	ids policy.Reader
}

// close leaves the array of numbers, which must have no more.
func (d *decoder) close() {
	if d.More() {
		d.Fail("too long")
	}
}

// list enters the array that is the next element.
func (d *decoder) list() {
	d.More()
	d.Array()
}

// int reads a whole number from 0 to most.
func (d *decoder) int(most int64) int {
	if !d.More() {
		d.Fail("too short")
		return 0
	}
	n := d.Int()
	if n < 0 || n > most {
		d.Fail("out of range")
		return 0
	}
	return int(n)
}

func (d *decoder) string() string {
	if !d.ids.More() {
		d.ids.Fail("too short")
		return ""
	}
	return d.ids.String()
}

func (d *decoder) fraction() float64 { return float64(d.int(maxNumber)) / fineUnit }

func (d *decoder) fractions(all []float64) {
	for i := range all {
		all[i] = d.fraction()
	}
}
