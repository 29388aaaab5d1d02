package adaptive

import (
	"encoding/base64"
	"encoding/binary"
	"math"

	"github.com/folkmoot/moot/policies/policy"
)

// A Team holds what was learned from past conversations of the same participants: a
// conditional logit model of the next speaker (McFadden, 1974). Package training makes
// it. It is part of the settings.
type Team struct {
	Weights []float64 // Slots of them
}

// Slots is the number of weights of a Team. The first ones are those of the features
// that every team has; features of participants and words share the rest by their
// hashes (Weinberger and others, Feature Hashing for Large Scale Multitask Learning,
// 2009). It is part of the settings, as the hashes are, so it must not change.
const Slots = 1 << 14

// Features that every team has.
const (
	fRecency   = iota // logarithms of each habit
	fAirtime          //
	fSequence         //
	fAddressed        // the rest is 0 or 1
	fNamed            //
	fTool             // after code
	fNewcomer         //
	hashed            // the first slot of the hashed features
)

// CommonFeatures is how many features every team has, and Sequence the one that
// training starts from.
const (
	CommonFeatures = hashed
	Sequence       = fSequence
)

// A Feature is what a candidate has of a slot.
type Feature struct {
	Slot int
	X    float64
}

// appendFeatures appends the features of a row. The hashed ones are the participant,
// after any speaker, after the last one, after the latest two, and after the last one and
// whom it named and addressed; and each word of the turn, for the participant and for its
// bucket of recency. The words of a turn together have the length 1.
func (r *room) appendFeatures(to []Feature, w *row) []Feature {
	a, t := &r.agents[w.seat], &r.last
	for h, p := range w.habit {
		to = append(to, Feature{fRecency + h, math.Log(max(p, 1e-5))}) // no habit rules out a candidate
	}
	for slot, on := range [...]bool{
		fAddressed: a.ID == t.addressed, fNamed: a.ID == t.named, fTool: w.tool && t.code, fNewcomer: w.person == newcomer,
	} {
		if on {
			to = append(to, Feature{slot, 1})
		}
	}
	before := ""
	if len(r.people) > 1 {
		before = r.people[1].id
	}
	id, last := hash(a.ID), hash(r.lastID())
	to = append(to,
		Feature{slot(id, 1), 1},
		Feature{slot(id, 2, last), 1},
		Feature{slot(id, 3, last, hash(before)), 1},
		Feature{slot(id, 4, last, hash(t.named), hash(t.addressed)), 1},
	)
	x := 1 / math.Sqrt(float64(len(t.words)))
	for _, word := range t.words {
		to = append(to, Feature{slot(id, uint64(word)), x}, Feature{slot(uint64(w.bucket+1), uint64(word)), x})
	}
	return to
}

// slot returns the slot of a hashed feature: what it is of, and what of that.
func slot(of uint64, more ...uint64) int {
	for _, n := range more {
		of = mix(of, n)
	}
	return hashed + int(of>>40%(Slots-hashed))
}

// hash is FNV-1a.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// mix adds a number to a hash.
func mix(h, n uint64) uint64 {
	h = (h ^ n ^ n>>32) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

func is(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// teach sets the probabilities of all rows by the law of the team:
//
//	p = exp(w.x) / sum of the same
func (r *room) teach() {
	r.scores = r.scores[:0]
	for i := range r.rows {
		r.features = r.appendFeatures(r.features[:0], &r.rows[i])
		r.scores = append(r.scores, Score(r.team.Weights, r.features))
	}
	Softmax(r.scores)
	for i, p := range r.scores {
		r.rows[i].part[partTaught] = fine(p)
	}
}

// Score returns w.x.
func Score(w []float64, x []Feature) (z float64) {
	for _, f := range x {
		z += w[f.Slot] * f.X
	}
	return z
}

// Softmax makes scores probabilities.
func Softmax(z []float64) {
	most, sum := math.Inf(-1), 0.0
	for _, x := range z {
		most = max(most, x)
	}
	for i, x := range z {
		z[i] = math.Exp(x - most)
		sum += z[i]
	}
	for i := range z {
		z[i] /= sum
	}
}

// A Study is a decision as the law of a team sees it, for training.
type Study struct {
	Truth int         // index of the actual next speaker in Rows, or -1
	Rows  [][]Feature // of each candidate
}

// Study adds the messages of in, like Decide, and describes the candidates, one of
// which is the actual next speaker. It also returns the state for the next decision,
// which is valid until the next call. The policy must have a Team.
func (p *Policy) Study(in *policy.Input, next string) (Study, policy.JSON) {
	p.observe(in)
	r := p.room
	r.predict()
	s := Study{Truth: -1}
	for i := range r.rows {
		if r.agents[r.rows[i].seat].ID == next {
			s.Truth = i
		}
		s.Rows = append(s.Rows, r.appendFeatures(nil, &r.rows[i]))
	}
	return s, r.save()
}

// NewTeam returns a team of which nothing is known: it predicts by sequence.
func NewTeam() *Team {
	t := &Team{Weights: make([]float64, Slots)}
	t.Weights[Sequence] = 1
	return t
}

// weightUnit is the precision of weights in the settings, in parts of 1.
const weightUnit = 1024

// AppendJSON appends the team in the form of the settings: {"model": the weights as
// 16-bit numbers in base64}.
func (t *Team) AppendJSON(dst []byte) []byte {
	var b []byte
	for _, f := range t.Weights {
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(min(max(math.Round(f*weightUnit), math.MinInt16), math.MaxInt16))))
	}
	w := policy.NewWriter(dst)
	w.Object()
	w.Key("model")
	w.String(base64.StdEncoding.EncodeToString(b))
	w.EndObject()
	return w.Bytes()
}

// Errors of settings. They are short because the sandbox cuts long messages.
const (
	olderTeam   = "learned by an older version of moot; run `moot policy learn` again"
	damagedTeam = "not what `moot policy learn` wrote; run it again"
)

// readTeam decodes a team from the settings.
func readTeam(in *policy.Reader) *Team {
	var b []byte
	for in.Object(); in.More(); {
		switch k := in.Key(); k {
		case "model":
			b, _ = base64.StdEncoding.DecodeString(in.String()) // of another length if it is damaged
		case "weights", "counts", "words", "vectors":
			in.Fail(olderTeam)
		default:
			in.Unknown(k)
		}
	}
	if len(b) != 2*Slots {
		in.Fail(damagedTeam)
		return nil
	}
	t := NewTeam()
	for i := range t.Weights {
		t.Weights[i] = float64(int16(binary.LittleEndian.Uint16(b[2*i:]))) / weightUnit
	}
	return t
}
