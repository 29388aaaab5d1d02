package adaptive

import (
	"math"

	"github.com/folkmoot/moot/policies/policy"
)

// A Team holds what was learned from past conversations of the same participants:
// counts of next speakers by context, and a conditional logit model (McFadden, 1974)
// of the next speaker. Package training makes it. It is part of the settings.
type Team struct {
	Weights [Features]float64
	Words   []float64 // WordSlots weights, or none
	counts  map[uint32]uint16

	// Own, if set, returns the count of a key in the current conversation. It is
	// subtracted, so that training does not use counts of the same conversation.
	Own func(key uint32) float64
}

// MaxCounts is the largest number of counts of a team. It keeps the settings below
// 1 MiB.
const MaxCounts = 50_000

// SetCounts sets the counts, at most MaxCounts.
func (t *Team) SetCounts(n map[uint32]uint16) { t.counts = n }

// Contexts in which the turns of a team are counted.
const (
	afterAny    = iota
	afterOne    // the last speaker
	afterTwo    // the latest two
	afterNaming // the last speaker, and whom it named and addressed
	contexts
)

// context returns the hashes of the contexts of the next turn.
func (r *room) context() (keys [contexts]uint64) {
	before := ""
	if len(r.people) > 1 {
		before = r.people[1].id
	}
	t := &r.last
	for c := range keys {
		keys[c] = mix(uint64(c+1), 0)
		if c != afterAny {
			keys[c] = mix(keys[c], hash(r.lastID()))
		}
	}
	keys[afterTwo] = mix(keys[afterTwo], hash(before))
	keys[afterNaming] = mix(mix(keys[afterNaming], hash(t.named)), hash(t.addressed))
	return keys
}

// keyOf returns the key of a context and the next speaker.
func keyOf(context uint64, next string) uint32 { return uint32(mix(context, hash(next)) >> 32) }

// hash is FNV-1a. It is part of the settings, so it must not change.
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

// Features of a candidate for the law of a team.
const (
	fRecency      = iota // logarithms of each habit
	fAirtime             //
	fSequence            //
	fTeamSequence        // and of the estimates from past conversations
	fTeamNaming          //
	fAddressed           // the rest is 0 or 1
	fNamed               //
	fPending             //
	fTool                //
	fBack                // spoke before the last speaker
	fBackQuestion        // who asked something
	fBackShort           // who said no more than three words
	fNewcomer            //
	fHuman               //
	Features             // how many there are
)

// Sequence is the feature that training starts from.
const Sequence = fSequence

// teach sets the features of all rows and the probabilities by the law of the team:
//
//	p = exp(w.x + words) / sum of the same
func (r *room) teach() {
	r.setFeatures()
	most := math.Inf(-1)
	for i := range r.rows {
		w := &r.rows[i]
		w.z = r.team.words(&r.last, w, r.agents[w.seat].ID)
		for f, x := range w.x {
			w.z += r.team.Weights[f] * x
		}
		most = max(most, w.z)
	}
	sum := 0.0
	for i := range r.rows {
		r.rows[i].z = math.Exp(r.rows[i].z - most)
		sum += r.rows[i].z
	}
	for i := range r.rows {
		r.rows[i].part[partTaught] = fine(r.rows[i].z / sum)
	}
}

func (r *room) setFeatures() {
	r.teamEstimates()
	for i := range r.rows {
		w := &r.rows[i]
		a := &r.agents[w.seat]
		for h := range habitCount {
			w.x[fRecency+h] = logOf(w.habit[h])
		}
		back := w.bucket == 1
		w.x[fAddressed] = is(a.ID == r.last.addressed)
		w.x[fNamed] = is(a.ID == r.last.named)
		w.x[fPending] = is(w.pending)
		w.x[fTool] = is(w.tool)
		w.x[fBack] = is(back)
		w.x[fBackQuestion] = is(back && r.last.question)
		w.x[fBackShort] = is(back && r.last.short)
		w.x[fNewcomer] = is(w.person == newcomer)
		w.x[fHuman] = is(a.Kind == policy.Human)
	}
}

// logOf is the natural logarithm with a floor, so that no estimate rules out a
// candidate.
func logOf(p float64) float64 { return math.Log(max(p, 1e-5)) }

// teamEstimates sets the features of past conversations. The estimates back off
// from longer contexts to shorter ones and to the sequence of this room.
func (r *room) teamEstimates() {
	keys := r.context()
	for i := range r.rows {
		r.rows[i].z = 1 / float64(len(r.rows))
	}
	r.teamEstimate(keys[afterAny], 2)
	for i := range r.rows {
		r.rows[i].z = .5*r.rows[i].z + .5*r.rows[i].habit[sequence]
	}
	r.teamEstimate(keys[afterOne], 1)
	for i := range r.rows {
		w := &r.rows[i]
		w.pair = w.z
		w.z = .7*w.z + .3*w.habit[sequence]
	}
	r.teamEstimate(keys[afterTwo], 1)
	for i := range r.rows {
		r.rows[i].x[fTeamSequence] = logOf(r.rows[i].z)
		r.rows[i].z = r.rows[i].pair
	}
	r.teamEstimate(keys[afterNaming], 1)
	for i := range r.rows {
		r.rows[i].x[fTeamNaming] = logOf(r.rows[i].z)
	}
}

// teamEstimate smooths the counts of a context with the base in z:
//
//	z <- (n + alpha z) / (sum n + alpha)
func (r *room) teamEstimate(context uint64, alpha float64) {
	sum := alpha
	for i := range r.rows {
		w := &r.rows[i]
		w.count = r.team.count(keyOf(context, r.agents[w.seat].ID))
		sum += w.count
	}
	for i := range r.rows {
		r.rows[i].z = (r.rows[i].count + alpha*r.rows[i].z) / sum
	}
}

// count returns the count of a key.
func (t *Team) count(key uint32) float64 {
	n := float64(t.counts[key])
	if n > 0 && t.Own != nil {
		n -= t.Own(key)
	}
	return max(n, 0)
}
