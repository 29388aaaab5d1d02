package adaptive

// probabilities sets the features that are logarithms of probabilities. Each
// estimate is smoothed with a Dirichlet prior (MacKay and Peto, A Hierarchical
// Dirichlet Language Model, 1995): it adds to its counts a few turns, distributed
// like a simpler estimate.
func (r *room) probabilities() {
	r.recency()
	r.shares()
	r.followers()
	kinds := r.kindProbabilities()
	for i := range r.rows {
		w := &r.rows[i]
		w.set(fKind, kinds[w.kind])
	}
}

// recency sets the probabilities by recency. The candidates of a bucket share
// its probability equally.
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

// laws returns the probabilities of the buckets: from all transitions; from those
// after the same two classes, backing off to one class and to all; and from the
// recent ones.
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

// blend adds alpha turns, distributed like base, to the counts n, over the
// buckets that have a candidate:
//
//	(n[b] + alpha base[b]/sum base) / (sum n + alpha)
func (r *room) blend(to, n *[buckets]float64, alpha float64, base *[buckets]float64) {
	var sum, sumBase float64
	for b, count := range r.available[:] {
		if count > 0 {
			sum += n[b]
			sumBase += base[b]
		}
	}
	weight, all := alpha/sumBase, 1/(sum+alpha)
	for b, count := range r.available[:] {
		if count > 0 {
			to[b] = (n[b] + float64(weight*base[b])) * all
		}
	}
}

// shares sets the candidates' shares of the turns with additive smoothing:
// (n + 1/2)/(sum n + 1/2 for each candidate), and 0.3 for the recent turns.
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

// followers sets the bigram and trigram probabilities of the speakers. The bigram
// backs off to recency, the trigram to the bigram:
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

// kindProbabilities returns ln of the probability of a candidate by its kind, given
// the kind of the last speaker: the counts and two turns distributed like the
// candidates, shared among the candidates of the kind.
func (r *room) kindProbabilities() (p [kindCount]float64) {
	n := &r.kinds[r.lastKind()]
	var sum, all float64
	for k, count := range r.candidates[:] {
		if count > 0 {
			sum += float64(n[k])
			all += count
		}
	}
	for k, count := range r.candidates[:] {
		if count > 0 {
			p[k] = ln((float64(n[k]) + 2*count/all) / (sum + 2) / count)
		}
	}
	return p
}

// topRows returns the rows with the largest bigram and trigram probability; of
// equals the first.
func (r *room) topRows() (topPair, topTriple int) {
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
