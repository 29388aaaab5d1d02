package adaptive

// probabilities sets the features that are logarithms of probabilities. Each
// estimate adds to its counts a few turns spread as a simpler estimate has it,
// so that little evidence weighs little.
func (r *room) probabilities() {
	law, law2, lately := r.laws()
	r.shares()
	last, before := r.speakers()
	kinds := r.kindLaw()
	for i := range r.rows {
		w := &r.rows[i]
		b := bucketOf(w.rank)
		w.byRank = law2[b] / r.available[b] // a bucket's probability is shared among those in it
		w.set(fRecency, ln(law[b]/r.available[b]))
		w.set(fRecency2, ln(w.byRank))
		w.set(fRecencyFast, ln(lately[b]/r.available[b]))
		w.set(fKind, ln(kinds[w.kind]/r.candidates[w.kind]))
	}
	var pairs, triples float64
	for i := range r.rows {
		w := &r.rows[i]
		w.byPair, w.byTriple = r.get(pair(last, w.id)), r.get(triple(before, last, w.id))
		pairs += w.byPair
		triples += w.byTriple
	}
	for i := range r.rows {
		w := &r.rows[i]
		w.byPair = (w.byPair + float64(2*w.byRank)) / (pairs + 2)
		w.byTriple = (w.byTriple + float64(1.5*w.byPair)) / (triples + 1.5)
		w.set(fPair, ln(w.byPair))
		w.set(fTriple, ln(w.byTriple))
	}
}

// laws are the probabilities of the buckets: from all transitions so far; from
// those after the same two classes, backing off to one class and to all; and
// from those of late.
func (r *room) laws() (all, after2, lately [buckets]float64) {
	one, two := &r.law1[r.class[0]], &r.law2[r.class[0]][r.class[1]]
	var counts, counts1, counts2, fast [buckets]float64
	for b := range counts {
		counts[b], counts1[b], counts2[b], fast[b] = float64(r.law[b]), float64(one[b]), float64(two[b]), float64(r.lawFast[b])
	}
	all = r.smooth(&counts, 4, &lawPrior)
	after1 := r.smooth(&counts1, 4, &all)
	return all, r.smooth(&counts2, 4, &after1), r.smooth(&fast, 2, &lawPrior)
}

// smooth adds alpha turns, spread as base is, to the counts n, over the
// buckets that somebody is in:
//
//	(n[b] + alpha base[b]/sum base) / (sum n + alpha)
func (r *room) smooth(n *[buckets]float64, alpha float64, base *[buckets]float64) (out [buckets]float64) {
	var sum, sumBase float64
	for b := range n {
		if r.available[b] > 0 {
			sum += n[b]
			sumBase += base[b]
		}
	}
	for b := range n {
		if r.available[b] > 0 {
			out[b] = (n[b] + float64(alpha*base[b])/sumBase) / (sum + alpha)
		}
	}
	return out
}

// shares sets the shares of the turns: (n + 1/2)/(sum n + half of everybody),
// and of the turns of late with 0.3.
func (r *room) shares() {
	all := r.others()
	var turns, fast float64
	for i := range r.rows {
		if w := &r.rows[i]; w.rank != neverSpoke {
			turns += float64(r.people[w.rank].count)
			fast += float64(r.people[w.rank].fast)
		}
	}
	for i := range r.rows {
		w := &r.rows[i]
		var n, f float64
		if w.rank != neverSpoke {
			n, f = float64(r.people[w.rank].count), float64(r.people[w.rank].fast)
		}
		share := ln((n + .5) / (turns + float64(.5*all)))
		w.set(fTurns, share)
		w.set(fTurnsFast, ln((f+.3)/(fast+float64(.3*all))))
		if r.last.question {
			w.set(fTurnsQuestion, share/4)
		}
	}
}

// others is how many could have the next turn.
func (r *room) others() float64 {
	n := len(r.ids)
	if last, _ := r.speakers(); r.seatOf(last) >= 0 {
		n--
	}
	return float64(n)
}

// kindLaw is the probability that the next speaker is of each kind, after one
// of the last speaker's: the counts and two turns spread as the candidates are.
func (r *room) kindLaw() (p [kindCount]float64) {
	n := &r.kinds[r.lastKind()]
	var sum, all float64
	for k := range p {
		if r.candidates[k] > 0 {
			sum += float64(n[k])
			all += r.candidates[k]
		}
	}
	for k := range p {
		if r.candidates[k] > 0 {
			p[k] = (float64(n[k]) + 2*r.candidates[k]/all) / (sum + 2)
		}
	}
	return p
}

// tops returns the rows with the largest probability after the last speaker,
// and after the last two; the first among equals.
func (r *room) tops() (topPair, topTriple int) {
	for i := range r.rows {
		if r.rows[i].byPair > r.rows[topPair].byPair {
			topPair = i
		}
		if r.rows[i].byTriple > r.rows[topTriple].byTriple {
			topTriple = i
		}
	}
	return topPair, topTriple
}
