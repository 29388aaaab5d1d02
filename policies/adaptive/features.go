package adaptive

import (
	"math"

	"github.com/folkmoot/moot/policies/policy"
)

// A row is one candidate for the next turn.
type row struct {
	seat int // in the roster
	rank int
	p    float64 // what all rules together make of it
	each [ruleCount]float64
	f    features
}

// features are what a rule looks at: logarithms of probabilities, and signs
// that are 0 or 1.
type features struct {
	trigram   float64 // who follows the last two speakers, backing off to recency
	recency   float64 // how long ago who takes the turn has spoken
	share     float64 // turns so far, and lately
	addressed float64
	lastNamed float64
	person    float64 // a person where agents could speak too
}

// rankPrior is how recency goes in talk at large, by bucket.
var rankPrior = [buckets]float64{.45, .17, .09, .05, .035, .025, .02, .015, .03, .03, .03, .055}

// seat tells who is in the room.
func (r *room) seat(agents []policy.Agent) { r.agents = agents }

// candidates makes a row of everybody but the last speaker, with the features
// for the turn after the last one heard.
func (r *room) candidates() []row {
	last, before := r.speakers()
	r.rows = r.rows[:0]
	var available [buckets]float64
	agents := 0
	for i := range r.agents {
		a := &r.agents[i]
		if a.ID == last {
			continue
		}
		w := row{seat: i, rank: r.rank(a.ID)}
		if a.Kind != policy.Human {
			agents++
		}
		available[bucket(w.rank)]++
		r.rows = append(r.rows, w)
	}
	ranks := r.rankLaw(&available)
	r.habits(last, before, &ranks, &available)
	for i := range r.rows {
		w := &r.rows[i]
		id := r.agents[w.seat].ID
		b := bucket(w.rank)
		w.f.recency = log(ranks[b] / available[b])
		w.f.addressed = sign(id == r.addressed)
		w.f.lastNamed = sign(id == r.lastNamed)
		w.f.person = sign(r.agents[w.seat].Kind == policy.Human && agents > 0)
	}
	return r.rows
}

// rankLaw is the probability of each bucket given the classes of the last two
// transitions: counts of this room, backing off to fewer classes and at last
// to rankPrior.
func (r *room) rankLaw(available *[buckets]float64) [buckets]float64 {
	law := rankPrior
	for _, level := range [...][3]int{{tagRank, 0, 0}, {tagRank1, r.kinds[0], 0}, {tagRank2, r.kinds[0], r.kinds[1]}} {
		var n [buckets]float64
		for b := range n {
			n[b] = r.get(key(level[0], level[1], level[2], b))
		}
		law = smooth(&n, 4, &law, available)
	}
	return law
}

// smooth adds alpha turns, spread as base is, to the counts n, over the
// buckets that somebody is in.
func smooth(n *[buckets]float64, alpha float64, base, available *[buckets]float64) (out [buckets]float64) {
	var sum, sumBase float64
	for b := range n {
		if available[b] > 0 {
			sum += n[b]
			sumBase += base[b]
		}
	}
	for b := range n {
		if available[b] > 0 {
			out[b] = (n[b] + float64(alpha*base[b])/sumBase) / (sum + alpha)
		}
	}
	return out
}

// habits fills in the features that sum over all rows.
func (r *room) habits(last, before string, ranks, available *[buckets]float64) {
	var pairs, triples, turns, fast float64
	for i := range r.rows {
		w := &r.rows[i]
		id := r.agents[w.seat].ID
		pairs += r.get(pair(last, id))
		triples += r.get(triple(before, last, id))
		if w.rank != never {
			turns += r.people[w.rank].turns
			fast += r.people[w.rank].fast
		}
	}
	n := float64(len(r.rows))
	for i := range r.rows {
		w := &r.rows[i]
		id := r.agents[w.seat].ID
		b := bucket(w.rank)
		two := (r.get(pair(last, id)) + float64(2*ranks[b])/available[b]) / (pairs + 2)
		w.f.trigram = log((r.get(triple(before, last, id)) + float64(1.5*two)) / (triples + 1.5))
		var own person
		if w.rank != never {
			own = r.people[w.rank]
		}
		w.f.share = float64(.5*log((own.turns+.5)/(turns+float64(.5*n)))) + float64(.5*log((own.fast+.3)/(fast+float64(.3*n))))
	}
}

// log is the natural logarithm, floored so that a count of nothing is not a
// verdict.
func log(x float64) float64 { return math.Log(max(x, 1e-5)) }

func sign(v bool) float64 {
	if v {
		return 1
	}
	return 0
}
