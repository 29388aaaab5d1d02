package adaptive

import (
	"sort"

	"github.com/folkmoot/moot/policies/policy"
)

// A team in the settings is an object of strings of digits, see digits.go:
// its vectors, its counts in the order of their keys, and its words.

// Units of what is written.
const (
	vectorUnit = 1e4
	vectorZero = 1 << 23
	wordUnit   = 256
	wordZero   = 2048
)

// AppendJSON appends the team as the settings have it.
func (t *Team) AppendJSON(dst []byte) []byte {
	w := policy.NewWriter(dst)
	w.Object()
	w.Key("vectors")
	w.Array()
	for i := range t.Vectors {
		p := pen{}
		p.fours(t.Vectors[i][:], vectorUnit, vectorZero)
		w.String(string(p.b))
	}
	w.EndArray()
	w.Key("counts")
	w.String(t.counts.text())
	if len(t.Words) > 0 {
		p := pen{}
		for _, u := range t.Words {
			p.two(clamp(int(u*wordUnit+(wordZero+.5)), 1<<12))
		}
		w.Key("words")
		w.String(string(p.b))
	}
	w.EndObject()
	return w.Bytes()
}

// text writes the counts in the order of their keys, each key as the
// difference to the one before.
func (t *countTable) text() string {
	var order []int
	for at, key := range t.keys {
		if key != 0 {
			order = append(order, at)
		}
	}
	sort.Slice(order, func(i, j int) bool { return t.keys[order[i]] < t.keys[order[j]] })
	p := pen{}
	p.number(len(order))
	before := uint32(0)
	for _, at := range order {
		p.wide(t.keys[at] - before)
		p.number(int(t.n[at]))
		before = t.keys[at]
	}
	return string(p.b)
}

// readTeam reads a team from the settings.
func readTeam(in *policy.Reader) *Team {
	t, vectors := &Team{}, false
	for in.Object(); in.More(); {
		switch k := in.Key(); k {
		case "vectors":
			vectors = true
			t.readVectors(in)
		case "counts":
			if !t.counts.read(in.String()) {
				in.Fail("counts that `moot policy learn` did not write")
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
		d := reader{b: []byte(in.String())}
		if i < len(t.Vectors) {
			d.fours(t.Vectors[i][:], 1/vectorUnit, vectorZero)
		}
		if i >= len(t.Vectors) || d.failed || d.p != len(d.b) {
			in.Fail("vectors that `moot policy learn` did not write")
		}
	}
	if i != len(t.Vectors) {
		in.Fail("vectors that `moot policy learn` did not write")
	}
}

func (t *Team) readWords(in *policy.Reader) {
	d := reader{b: []byte(in.String())}
	t.Words = make([]float64, WordSlots)
	for i := range t.Words {
		t.Words[i] = float64(d.two()-wordZero) * (1.0 / wordUnit)
	}
	if d.failed || d.p != len(d.b) {
		in.Fail("words that `moot policy learn` did not write")
	}
}

func (t *countTable) read(text string) bool {
	d := reader{b: []byte(text)}
	n := d.below(MaxCounts + 1)
	*t = newCountTable(n)
	key := uint32(0)
	for range n {
		key += d.wide()
		t.put(key, uint16(d.below(most16+1)))
	}
	return !d.failed && d.p == len(d.b)
}
