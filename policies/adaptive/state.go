package adaptive

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"github.com/folkmoot/moot/policies/policy"
)

// The state is a JSON array of strings of less than 16 KiB (TestStateIsBounded): the first
// one has all numbers, as varints in base64, and ids follow. It is derived from the
// messages of the room. A state that cannot be decoded, of another policy or version,
// counts as no state: the policy then learns the room again.

// stateVersion is the first number of a state.
const stateVersion = 9

// maxState is more than the size of any state, in bytes, and maxNumber than any number.
const (
	maxState  = 16 << 10
	maxNumber = 1 << 40
)

// A codec encodes a state, or decodes it. visit names every field once, for both.
type codec struct {
	reading, failed bool
	numbers         []byte
	ids             []string
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
	c.id(&r.last.addressed)
	c.id(&r.last.named)
	code := int(indicator(r.last.code))
	c.int(&code, 1)
	r.last.code = code == 1
	r.last.words = resized(c, r.last.words, 2*maxWords)
	for i := range r.last.words {
		c.int(&r.last.words[i], 1<<stemBits-1)
	}
	c.fractions(r.note.newcomer[:])
	c.fractions(r.note.sums[:])
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
		c.failed, x, size = true, 0, len(c.numbers)
	}
	*n, c.numbers = int(x), c.numbers[size:]
}

// fraction encodes or decodes a number in millionths. It rounds f, so that the policy goes
// on with the same number whether the state is decoded or not.
func (c *codec) fraction(f *float64) {
	n := int(math.Floor(*f*fineUnit + .5))
	c.int(&n, maxNumber)
	*f = float64(n) / fineUnit
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
		c.failed = true
	default:
		*s, c.ids = c.ids[0], c.ids[1:]
	}
}

// save encodes the room. The result is valid until the state after the next one.
func (r *room) save() policy.JSON {
	r.text, r.spare = r.spare, r.text // ids may point into the text of before
	c := codec{numbers: r.numbers[:0], ids: append(r.ids[:0], "")}
	r.visit(&c)
	r.coded, r.numbers, r.ids = base64.RawStdEncoding.AppendEncode(r.coded[:0], c.numbers), c.numbers, c.ids
	r.ids[0] = unsafe.String(unsafe.SliceData(r.coded), len(r.coded))
	w := policy.NewWriter(r.text[:0])
	w.Strings(r.ids)
	r.text = w.Bytes()
	return r.text
}

// restore decodes the state, and makes the room empty without one.
func (r *room) restore(j policy.JSON) {
	r.reset()
	if len(j) > 0 && !r.read(j) {
		r.reset()
	}
}

// reset makes the room empty and keeps its memory.
func (r *room) reset() {
	*r = room{
		people: r.people[:0], last: turn{words: r.last.words[:0]},
		noRoles: r.noRoles, team: r.team, memory: r.memory,
	}
	r.startWeights()
}

func (r *room) startWeights() {
	for j := range r.weights {
		r.weights[j] = r.start(j)
	}
}

// read decodes a state and reports whether it could. Weights that belong to other settings
// begin again.
func (r *room) read(j policy.JSON) bool {
	in := policy.NewReader(j)
	ids := in.Strings()
	if in.Err() != nil || len(ids) == 0 {
		return false
	}
	var err error
	r.numbers, err = base64.RawStdEncoding.AppendDecode(r.numbers[:0], unsafe.Slice(unsafe.StringData(ids[0]), len(ids[0])))
	c := codec{reading: true, numbers: r.numbers, ids: ids[1:]}
	r.visit(&c)
	if err != nil || c.failed || len(c.numbers)+len(c.ids) > 0 || (r.turns == 0) != (len(r.people) == 0) {
		return false
	}
	if (r.team == nil) != (r.weights[taught] == 0) {
		r.startWeights()
		r.note = note{}
	}
	return true
}
