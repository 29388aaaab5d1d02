package adaptive

import (
	"encoding/base64"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/folkmoot/moot/policies/policy"
)

// In the settings a team is an object: the weights of the features, and strings in
// base64 with the counts, in the order of their keys, and with the weights of words.

// wordUnit is the precision of the weights of words, in parts of 1.
const wordUnit = 256

// AppendJSON appends the team in the form of the settings.
func (t *Team) AppendJSON(dst []byte) []byte {
	w := policy.NewWriter(dst)
	w.Object()
	w.Key("weights")
	w.Array()
	for _, f := range t.Weights {
		w.Float(math.Round(f*1e4) / 1e4)
	}
	w.EndArray()
	w.Key("counts")
	w.String(base64.StdEncoding.EncodeToString(t.countBytes()))
	if len(t.Words) > 0 {
		var b []byte
		for _, u := range t.Words {
			b = binary.LittleEndian.AppendUint16(b, uint16(int16(min(max(math.Round(u*wordUnit), math.MinInt16), math.MaxInt16))))
		}
		w.Key("words")
		w.String(base64.StdEncoding.EncodeToString(b))
	}
	w.EndObject()
	return w.Bytes()
}

// countBytes returns the counts as varints. Each key is the difference to the
// previous one.
func (t *Team) countBytes() (b []byte) {
	before := uint32(0)
	for _, key := range slices.Sorted(maps.Keys(t.counts)) {
		b = binary.AppendUvarint(b, uint64(key-before))
		b = binary.AppendUvarint(b, uint64(t.counts[key]))
		before = key
	}
	return b
}

// Errors of settings. They are short because the sandbox cuts long messages.
const (
	olderTeam   = "learned by an older version of moot; run `moot policy learn` again"
	damagedTeam = "not what `moot policy learn` wrote; run it again"
)

// readTeam decodes a team from the settings.
func readTeam(in *policy.Reader) *Team {
	t, weights := &Team{}, 0
	for in.Object(); in.More(); {
		switch k := in.Key(); k {
		case "weights":
			for in.Array(); in.More(); weights++ {
				if f := in.Float(); weights < Features {
					t.Weights[weights] = f
				}
			}
		case "counts":
			t.readCounts(in)
		case "words":
			t.readWords(in)
		case "vectors":
			in.Fail(olderTeam)
		default:
			in.Unknown(k)
		}
	}
	if weights != Features {
		in.Fail(damagedTeam)
	}
	return t
}

func (t *Team) readCounts(in *policy.Reader) {
	b, err := base64.StdEncoding.DecodeString(in.String())
	t.counts = make(map[uint32]uint16, len(b)/4)
	for key := uint32(0); len(b) > 0 && err == nil; {
		step, n := binary.Uvarint(b)
		count, m := binary.Uvarint(b[max(n, 0):])
		if n <= 0 || m <= 0 || count > math.MaxUint16 || len(t.counts) == MaxCounts {
			in.Fail(damagedTeam)
			return
		}
		key += uint32(step)
		t.counts[key] = uint16(count)
		b = b[n+m:]
	}
	if err != nil {
		in.Fail(damagedTeam)
	}
}

func (t *Team) readWords(in *policy.Reader) {
	b, err := base64.StdEncoding.DecodeString(in.String())
	if err != nil || len(b) != 2*WordSlots {
		in.Fail(damagedTeam)
		return
	}
	t.Words = make([]float64, WordSlots)
	for i := range t.Words {
		t.Words[i] = float64(int16(binary.LittleEndian.Uint16(b[2*i:]))) / wordUnit
	}
}
