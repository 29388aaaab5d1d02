package adaptive

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"github.com/folkmoot/moot/policies/policy"
)

// The state is a JSON array of strings of less than 16 KiB (TestStateIsBounded): the
// first one has all numbers, as varints in base64, and ids follow. It is derived from
// the messages of the room. A state that cannot be decoded, of another policy or
// version, counts as no state: the policy then learns the room again.

// stateVersion is the first number of a state.
const stateVersion = 8

// maxState is more than the size of any state, in bytes, and maxNumber than any number.
const (
	maxState  = 16 << 10
	maxNumber = 1 << 40
)

// A codec encodes a state, or decodes it. visit names every field once, for both.
type codec struct {
	reading bool
	failed  bool
	numbers []byte
	ids     []string
}

// visit encodes or decodes the room.
func (r *room) visit(c *codec) {
	version := stateVersion
	c.int(&version, stateVersion)
	c.failed = c.failed || version != stateVersion
	c.int(&r.turns, maxNumber)
	c.int(&r.class, buckets-1)
	for class := range r.recency {
		for b := range r.recency[class] {
			c.int(&r.recency[class][b], maxNumber)
		}
	}
	c.fractions(r.weights[:])
	r.people = resized(c, r.people, maxPeople)
	for i := range r.people {
		p := &r.people[i]
		c.id(&p.id)
		c.int(&p.turn, maxNumber)
		c.fraction(&p.fast)
		c.fractions(p.part[:])
	}
	r.named = resized(c, r.named, maxNamed)
	for i := range r.named {
		c.id(&r.named[i].id)
		c.int(&r.named[i].turn, maxNumber)
	}
	r.visitTurn(c)
	c.fractions(r.note.newcomer[:])
	c.fractions(r.note.sums[:])
	r.topics = resized(c, r.topics, maxTopics)
	for i := range r.topics {
		c.int(&r.topics[i].stem, maxNumber)
		c.fraction(&r.topics[i].count)
	}
}

func (r *room) visitTurn(c *codec) {
	t := &r.last
	c.id(&t.addressed)
	c.id(&t.named)
	code := int(is(t.code))
	c.int(&code, 1)
	t.code = code == 1
	t.words = resized(c, t.words, maxWords)
	for i := range t.words {
		word := int(t.words[i])
		c.int(&word, math.MaxUint16)
		t.words[i] = uint16(word)
	}
}

// resized encodes the length of a list, or returns the list with the decoded one.
func resized[T any](c *codec, all []T, most int) []T {
	n := len(all)
	if c.int(&n, most); c.reading {
		return slices.Grow(all[:0], n)[:n]
	}
	return all
}

// int encodes or decodes a number from 0 to most.
func (c *codec) int(n *int, most int) {
	if !c.reading {
		c.numbers = binary.AppendUvarint(c.numbers, uint64(*n))
		return
	}
	x, size := binary.Uvarint(c.numbers)
	if size <= 0 || x > uint64(most) {
		c.failed, c.numbers, *n = true, nil, 0
		return
	}
	*n, c.numbers = int(x), c.numbers[size:]
}

// fraction encodes or decodes a number in millionths.
func (c *codec) fraction(f *float64) {
	n := int(math.Floor(*f*fineUnit + .5))
	if c.int(&n, maxNumber); c.reading {
		*f = float64(n) / fineUnit
	}
}

func (c *codec) fractions(all []float64) {
	for i := range all {
		c.fraction(&all[i])
	}
}

func (c *codec) id(s *string) {
	switch {
	case !c.reading:
		c.ids = append(c.ids, *s)
	case len(c.ids) == 0:
		c.failed, *s = true, ""
	default:
		*s, c.ids = c.ids[0], c.ids[1:]
	}
}

// save encodes the room. The result is valid until the state after the next one.
func (r *room) save() policy.JSON {
	c := codec{numbers: r.numbers[:0], ids: r.ids[:0]}
	r.visit(&c)
	r.numbers, r.ids = c.numbers, c.ids
	r.coded = base64.RawStdEncoding.AppendEncode(r.coded[:0], c.numbers)
	r.text, r.spare = r.spare, r.text // ids may point into the text of before
	w := policy.NewWriter(r.text[:0])
	w.Array()
	w.String(unsafe.String(unsafe.SliceData(r.coded), len(r.coded)))
	for _, id := range c.ids {
		w.String(id)
	}
	w.EndArray()
	r.text = w.Bytes()
	return r.text
}

// restore decodes the state.
func (r *room) restore(j policy.JSON) {
	r.reset()
	if len(j) > 0 && !r.read(j) {
		r.reset()
	}
}

// reset makes the room empty and keeps its memory.
func (r *room) reset() {
	*r = room{
		people: r.people[:0], named: r.named[:0], last: turn{words: r.last.words[:0]}, topics: r.topics[:0],
		noRoles: r.noRoles, team: r.team, memory: r.memory,
	}
	r.rows, r.labels, r.ends = r.rows[:0], r.labels[:0], r.ends[:0]
	r.startWeights()
}

func (r *room) startWeights() {
	for j := range r.weights {
		r.weights[j] = r.start(j)
	}
}

func (r *room) read(j policy.JSON) bool {
	in := policy.NewReader(j)
	r.ids = r.ids[:0]
	for in.Array(); in.More(); {
		r.ids = append(r.ids, in.String())
	}
	in.End()
	if in.Err() != nil || len(r.ids) == 0 {
		return false
	}
	var err error
	if r.numbers, err = base64.RawStdEncoding.AppendDecode(r.numbers[:0], unsafe.Slice(unsafe.StringData(r.ids[0]), len(r.ids[0]))); err != nil {
		return false
	}
	c := codec{reading: true, numbers: r.numbers, ids: r.ids[1:]}
	r.visit(&c)
	return !c.failed && len(c.numbers) == 0 && len(c.ids) == 0 && r.valid()
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
		r.startWeights()
		r.note = note{}
	}
	return (r.turns == 0) == (len(r.people) == 0)
}
