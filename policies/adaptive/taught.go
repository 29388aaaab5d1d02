package adaptive

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"

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

// Features. Every team has the first ones, the others are hashed.
const (
	fRecency       = iota // logarithm of the habit
	fAirtime              // logarithm of the habit
	fAddressed            // 0 or 1
	fTool                 // 0 or 1: after code
	fNewcomer             // 0 or 1
	fNaming               // participant after the last speaker, and whom it named and addressed
	fWord                 // participant and word of the turn
	fPlaceWord            // bucket of recency and word of the turn
	kinds                 //
	CommonFeatures = fNaming
)

// A Feature is what a candidate has of a slot.
type Feature struct {
	Slot int
	X    float64
}

// setFeatures sets the features of a row. The words of a turn together have the length 1.
func (r *room) setFeatures(w *row) {
	r.features = r.features[:0]
	a, t := &r.agents[w.seat], &r.last
	r.add(fRecency, fRecency, math.Log(max(w.habit[recency], 1e-5))) // no habit rules out a candidate
	r.add(fAirtime, fAirtime, math.Log(max(w.habit[airtime], 1e-5)))
	r.add(fAddressed, fAddressed, indicator(a.ID == t.addressed))
	r.add(fTool, fTool, indicator(w.tool && t.code))
	r.add(fNewcomer, fNewcomer, indicator(w.person == newcomer))
	id, last := hash(a.ID), hash(r.lastID())
	r.add(fNaming, slot(id, 3*last+5*hash(t.named)+7*hash(t.addressed)), 1)
	x := 1 / math.Sqrt(float64(len(t.words)))
	for _, word := range t.words {
		r.add(fWord, slot(id, uint64(word)), x)
		r.add(fPlaceWord, slot(uint64(w.bucket+1), uint64(word)), x)
	}
}

// leftOut are the features that ablations leave out.
var leftOut [kinds]bool

// add adds a feature of one kind.
func (r *room) add(kind, slot int, x float64) {
	if x != 0 && !leftOut[kind] {
		r.features = append(r.features, Feature{slot, x})
	}
}

// golden is 2^64 divided by the golden ratio, for multiplicative hashing (Knuth, The Art
// of Computer Programming 3, 6.4).
const golden = 0x9e3779b97f4a7c15

// slot returns the slot of a hashed feature: a participant or a place, with what it has.
func slot(of, has uint64) int {
	of = (of*golden ^ has ^ has>>32) * golden
	return CommonFeatures + int((of^of>>29)>>40%(Slots-CommonFeatures))
}

// hash is FNV-1a.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

func indicator(b bool) float64 {
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
		r.setFeatures(&r.rows[i])
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

// A Study is a decision as training sees it, about one participant.
type Study struct {
	Truth int         // index of the participant in Rows, or -1
	Rows  [][]Feature // of each candidate, for a policy with a team

	Asked   bool // people outnumber the agents, and the participant is an agent
	Silence [HeadFeatures]float64
}

// Study adds the messages of in, like Decide, and describes the decision about a
// participant: the actual next speaker, or the one that may speak. It also returns the
// state for the next decision, which is valid until the next call.
func (p *Policy) Study(in *policy.Input, id string) (Study, policy.JSON) {
	news := p.observe(in) || in.Init
	r := p.room
	r.predict()
	s, seat := Study{}, slices.IndexFunc(r.agents, func(a policy.Agent) bool { return a.ID == id })
	s.Truth = slices.IndexFunc(r.rows, func(w row) bool { return w.seat == seat })
	if seat >= 0 {
		s.Silence, s.Asked = r.headFeatures(seat, news), r.minority() && r.agents[seat].Kind != policy.Human
	}
	for i := range r.rows {
		if r.team != nil {
			r.setFeatures(&r.rows[i])
			s.Rows = append(s.Rows, slices.Clone(r.features))
		}
	}
	return s, r.save()
}

// NewTeam returns a team of which nothing is known.
func NewTeam() *Team { return &Team{Weights: make([]float64, Slots)} }

// weightUnit is the precision of weights in the settings, in parts of 1.
const weightUnit = 1024

// AppendJSON appends the team in the form of the settings: {"logit": the weights as
// 16-bit numbers in base64}.
func (t *Team) AppendJSON(dst []byte) []byte {
	var b []byte
	for _, f := range t.Weights {
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(min(max(math.Round(f*weightUnit), math.MinInt16), math.MaxInt16))))
	}
	return append(base64.StdEncoding.AppendEncode(append(dst, `{"logit":"`...), b), `"}`...)
}

// damagedTeam is short because the sandbox cuts long messages.
const damagedTeam = "not what `moot policy learn` of this version wrote; run it again"

// readTeam decodes a team from the settings.
func readTeam(in *policy.Reader) *Team {
	var b []byte
	for in.Object(); in.More(); {
		if in.Key() != "logit" {
			in.Fail(damagedTeam) // of another version
		}
		b, _ = base64.StdEncoding.DecodeString(in.String()) // of another length if it is damaged
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
