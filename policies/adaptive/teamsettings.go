package adaptive

import (
	"encoding/binary"
	"math"
	"sort"

	"github.com/folkmoot/moot/policies/policy"
)

// In the settings a team is an object of packed strings (see packing.go): the
// vectors, the counts in the order of their keys, and the words.

// Precisions of the settings, in parts of 1.
const (
	vectorUnit = 1e4
	wordUnit   = 256
)

// AppendJSON appends the team in the form of the settings.
func (t *Team) AppendJSON(dst []byte) []byte {
	w := policy.NewWriter(dst)
	w.Object()
	w.Key("vectors")
	w.Array()
	for i := range t.Vectors {
		p := encoder{}
		p.parts(t.Vectors[i][:], vectorUnit)
		w.String(digits(p.b))
	}
	w.EndArray()
	w.Key("counts")
	w.String(t.counts.text())
	if len(t.Words) > 0 {
		p := encoder{}
		for _, u := range t.Words {
			p.word(within16(math.Round(u * wordUnit)))
		}
		w.Key("words")
		w.String(digits(p.b))
	}
	w.EndObject()
	return w.Bytes()
}

// text returns the counts in the order of their keys. Each key is encoded as the
// difference to the previous one.
func (t *countTable) text() string {
	var order []int
	for at, key := range t.keys {
		if key != 0 {
			order = append(order, at)
		}
	}
	sort.Slice(order, func(i, j int) bool { return t.keys[order[i]] < t.keys[order[j]] })
	b := binary.AppendUvarint(nil, uint64(len(order)))
	before := uint32(0)
	for _, at := range order {
		b = binary.AppendUvarint(b, uint64(t.keys[at]-before))
		b = binary.AppendUvarint(b, uint64(t.n[at]))
		before = t.keys[at]
	}
	return digits(b)
}

// stale is the error for data that cannot be decoded. It is short because the sandbox
// cuts long messages.
const otherVersion = "of another version; run `moot policy learn` again"

// readTeam decodes a team from the settings.
func readTeam(in *policy.Reader) *Team {
	t, vectors := &Team{}, false
	for in.Object(); in.More(); {
		switch k := in.Key(); k {
		case "vectors":
			vectors = true
			t.readVectors(in)
		case "counts":
			if !t.counts.read(in.String()) {
				in.Fail("counts " + otherVersion)
			}
		case "words":
			t.readWords(in)
		default:
			in.Unknown(k)
		}
	}
	if !vectors {
		in.Fail("a team has vectors")
	}
	return t
}

func (t *Team) readVectors(in *policy.Reader) {
	i := 0
	for in.Array(); in.More(); i++ {
		d := newDecoder(in.String())
		if i < len(t.Vectors) {
			d.parts(t.Vectors[i][:], 1/vectorUnit)
		}
		if i >= len(t.Vectors) || !d.done() {
			in.Fail("vectors " + otherVersion)
		}
	}
	if i != len(t.Vectors) {
		in.Fail("vectors " + otherVersion)
	}
}

func (t *Team) readWords(in *policy.Reader) {
	d := newDecoder(in.String())
	t.Words = make([]float64, WordSlots)
	for i := range t.Words {
		t.Words[i] = float64(int16(d.word())) * (1.0 / wordUnit)
	}
	if !d.done() {
		in.Fail("words " + otherVersion)
	}
}

func (t *countTable) read(written string) bool {
	d := newDecoder(written)
	n := d.varint(MaxCounts)
	*t = newCountTable(int(n))
	key := uint32(0)
	for range n {
		key += uint32(d.varint(math.MaxUint32))
		t.put(key, uint16(d.varint(maxCount16)))
	}
	return d.done()
}
