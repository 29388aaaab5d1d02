package adaptive

// probabilities sets the features that are logarithms of probabilities. Each
// estimate adds to its counts a few turns spread as a simpler estimate has it,
// so that little evidence weighs little.
func (r *room) probabilities() {
	r.recency()
	r.shares()
	r.followers()
	kinds := r.kindLaw()
	for i := range r.rows {
		w := &r.rows[i]
		w.set(fKind, kinds[w.kind])
	}
}

// recency sets the probability of each candidate by how long ago it spoke. A
// bucket's probability is shared among those in it.
func (r *room) recency() {
	law, law2, lately := r.laws()
	var logs [3][buckets]float64
	for b, n := range r.available[:] {
		if n > 0 {
			law2[b] /= n
			logs[0][b], logs[1][b], logs[2][b] = ln(law[b]/n), ln(law2[b]), ln(lately[b]/n)
		}
	}
	for i := range r.rows {
		w := &r.rows[i]
		w.byRank = law2[w.bucket]
		w.set(fRecency, logs[0][w.bucket])
		w.set(fRecency2, logs[1][w.bucket])
		w.set(fRecencyFast, logs[2][w.bucket])
	}
}

// laws are the probabilities of the buckets: from all transitions so far; from
// those after the same two classes, backing off to one class and to all; and
// from those of late.
func (r *room) laws() (all, after2, lately [buckets]float64) {
	var n, after1 [buckets]float64
	for b := range n {
		n[b] = float64(r.law[b])
	}
	r.blend(&all, &n, 4, &lawPrior)
	for b := range n {
		n[b] = float64(r.law1[r.class[0]][b])
	}
	r.blend(&after1, &n, 4, &all)
	for b := range n {
		n[b] = float64(r.law2[r.after()+b])
	}
	r.blend(&after2, &n, 4, &after1)
	r.blend(&lately, &r.lawFast, 2, &lawPrior)
	return all, after2, lately
}

// blend adds alpha turns, spread as base is, to the counts n, over the
// buckets that somebody is in:
//
//	(n[b] + alpha base[b]/sum base) / (sum n + alpha)
func (r *room) blend(to, n *[buckets]float64, alpha float64, base *[buckets]float64) {
	var sum, sumBase float64
	for b, some := range r.available[:] {
		if some > 0 {
			sum += n[b]
			sumBase += base[b]
		}
	}
	weight, all := alpha/sumBase, 1/(sum+alpha)
	for b, some := range r.available[:] {
		if some > 0 {
			to[b] = (n[b] + float64(weight*base[b])) * all
		}
	}
}

// shares sets the shares of the turns: (n + 1/2)/(sum n + half of everybody),
// and of the turns of late with 0.3.
func (r *room) shares() {
	n := float64(r.others())
	turns, fast := float64(.5*n), float64(.3*n)
	for i := range r.rows {
		if w := &r.rows[i]; w.rank != neverSpoke {
			turns += float64(r.people[w.rank].count)
			fast += r.people[w.rank].fast
		}
	}
	none, noneFast := ln(.5/turns), ln(.3/fast)
	for i := range r.rows {
		w := &r.rows[i]
		lately := noneFast
		w.share = none
		if w.rank != neverSpoke {
			p := &r.people[w.rank]
			w.share, lately = ln((float64(p.count)+.5)/turns), ln((p.fast+.3)/fast)
		}
		w.set(fTurns, w.share)
		w.set(fTurnsFast, lately)
	}
}

// followers sets who follows the last speaker, backing off to recency, and who
// the last two, backing off to that:
//
//	(n + alpha base) / (sum n + alpha)
func (r *room) followers() {
	var pairs, triples float64
	for i := range r.rows {
		w := &r.rows[i]
		w.byPair, w.byTriple = 0, 0
		if w.rank == neverSpoke || len(r.people) < 2 {
			continue
		}
		last, next := r.people[0].slot, r.people[w.rank].slot
		w.byPair, w.byTriple = r.get(pairCell(last, next)), r.get(tripleCell(r.people[1].slot, last, next))
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

// kindLaw is ln of the probability of a candidate by its kind, after one of
// the last speaker's: the counts and two turns spread as the candidates are,
// shared among those of the kind.
func (r *room) kindLaw() (p [kindCount]float64) {
	n := &r.kinds[r.lastKind()]
	var sum, all float64
	for k, some := range r.candidates[:] {
		if some > 0 {
			sum += float64(n[k])
			all += some
		}
	}
	for k, some := range r.candidates[:] {
		if some > 0 {
			p[k] = ln((float64(n[k]) + 2*some/all) / (sum + 2) / some)
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
