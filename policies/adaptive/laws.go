package adaptive

import (
	"github.com/folkmoot/moot/policies/policy"
)

// A law gives each candidate a probability. It is a habit of the room times what
// the latest turns say about the candidate, normalised over the candidates.

// Habits: how turns follow one another when texts do not matter.
const (
	recency = iota
	airtime
	sequence
	habitCount
)

// Strengths of naming: what it means that the latest turn addressed or named a
// candidate.
const (
	nothing   = iota // names mean nothing here, as in games
	addressed        // the addressed participant answers
	named            // so does the one that is named last, less often
	strengths
)

// laws is the number of laws: each habit with each strength, and the law of the
// team, which is the last one.
const (
	laws   = habitCount*strengths + 1
	taught = laws - 1
)

// Factors by which the latest turns make a candidate more likely, as powers of e.
// They are round numbers, picked by hand: a factor that is wrong in a room is
// corrected by the weights of the laws.
const (
	addressedFactor = 20.085536923187668 // e^3
	namedFactor     = 7.38905609893065   // e^2
)

// codeFactor is that of a tool after code, e^3. Only ablations change it.
var codeFactor = 20.085536923187668

// A row describes a candidate.
type row struct {
	seat   int // index of the agent
	person int // index in people, or newcomer
	bucket int
	tool   bool                // of a candidate that has spoken only set after code
	role   float64             // factor of the role of a newcomer: see roles
	habit  [habitCount]float64 // probability by each habit
	part   [parts]float64      // what the laws have in common: see predict
	naming [strengths]float64  // factor of each strength
	p      float64             // probability by the mixture
}

const newcomer = -1

// describe lists the candidates: all participants but the last speaker.
func (r *room) describe() {
	r.rows, r.newcomers = r.rows[:0], 0
	for seat := range r.agents {
		a := &r.agents[seat]
		person := r.rank(a.ID)
		if person == 0 {
			continue
		}
		if person == newcomer {
			r.newcomers++
		}
		r.rows = append(r.rows, row{
			seat: seat, person: person, bucket: bucketOf(person), role: 1, naming: r.last.naming(a.ID),
			tool: (r.last.code || person == newcomer) && isTool(a),
		})
	}
	r.roles()
	r.recencyHabit()
	r.airtimeHabit()
	r.sequenceHabit()
}

// naming returns the factors of what a turn says of id.
func (t *turn) naming(id string) [strengths]float64 {
	factors := [strengths]float64{1, 1, 1}
	if id == t.addressed {
		factors[addressed], factors[named] = addressedFactor, addressedFactor
	}
	if id == t.named {
		factors[named] *= namedFactor
	}
	return factors
}

// tools are words of ids of tools. A tool of a transcript has the role "tool".
var tools = appendStems(nil, "terminal executor tool tools interpreter runner shell console")

func isTool(a *policy.Agent) bool { return a.Role == "tool" || anyOf(tools, appendStems(nil, a.ID)) }

// Buckets of recency: how many others have spoken since the latest turn of a
// participant, from 1, the speaker before the last one, to 4, which is also more;
// 0 stands for a newcomer.
const buckets = 5

func bucketOf(rank int) int { return min(max(rank, 0), buckets-1) }

// recencyPrior are the turns that each bucket is assumed to have had before the
// first turn: the previous speaker comes back most often, in every sort of talk.
var recencyPrior = [buckets]float64{.25, 1.8, .7, .35, .2}

// recencyHabit predicts by the bucket that took the turn, after turns that the
// same bucket took as the latest one. These counts are smoothed with one turn
// distributed like all turns (MacKay and Peto, A Hierarchical Dirichlet Language
// Model, 1995); the candidates of a bucket share its probability:
//
//	(n[class][b] + q[b]) / (sum n[class] + 1) / size[b]
func (r *room) recencyHabit() {
	var size, q [buckets]float64
	for i := range r.rows {
		size[r.rows[i].bucket]++
	}
	all, after := 0.0, 1.0
	for b := range q {
		if size[b] == 0 {
			continue
		}
		q[b] = recencyPrior[b]
		for class := range r.recency {
			q[b] += float64(r.recency[class][b])
		}
		all += q[b]
		after += float64(r.recency[r.class][b])
	}
	for i := range r.rows {
		w := &r.rows[i]
		b := w.bucket
		w.habit[recency] = (float64(r.recency[r.class][b]) + q[b]/all) / after / size[b]
	}
}

// airtimeHabit predicts by the share of the recent turns, with 0.3 turns added
// for each candidate.
func (r *room) airtimeHabit() {
	sum := 0.0
	for i := range r.rows {
		w := &r.rows[i]
		w.habit[airtime] = .3
		if w.person != newcomer {
			w.habit[airtime] += r.people[w.person].fast
		}
		sum += w.habit[airtime]
	}
	for i := range r.rows {
		r.rows[i].habit[airtime] /= sum
	}
}

// sequenceHabit predicts by the sequences of three speakers so far. The trigram
// backs off to the bigram with one turn, and the bigram to recency:
//
//	(n + base) / (sum n + 1)
func (r *room) sequenceHabit() {
	pairs, triples := 1.0, 1.0
	for i := range r.rows {
		pair, triple := r.followed(&r.rows[i])
		pairs += pair
		triples += triple
	}
	for i := range r.rows {
		w := &r.rows[i]
		pair, triple := r.followed(w)
		w.habit[sequence] = (triple + (pair+w.habit[recency])/pairs) / triples
	}
}

// followed returns how often a candidate followed the last speaker, and the
// latest two. A newcomer that had spoken before it was forgotten counts as new.
func (r *room) followed(w *row) (pair, triple float64) {
	if w.person == newcomer {
		return 0, 0
	}
	f := r.agents[w.seat].Followed
	return float64(f.Last), float64(f.LastTwo)
}
