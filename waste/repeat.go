package waste

import "github.com/folkmoot/moot/internal/minhash"

const (
	minWords  = minhash.RunLength // of a text that can be a duplicate: a shorter one is no shingle
	nearFrom  = 0.8               // similarity from which a text is a near duplicate
	lookBack  = 1000              // how many earlier texts of a run a text is compared with
	maxPeriod = 4                 // turns of a sequence that repeats itself
)

// A said is a turn as the search for repetitions sees it.
type said struct {
	speaker string
	turn    int
	hash    uint64
	sketch  minhash.Sketch // nil for a text under minWords words
	silent  bool           // has no words, or is of a participant that is not judged
}

// same reports whether two turns of one speaker say nearly the same.
func (s *said) same(t *said) bool {
	switch {
	case s.silent || t.silent || s.speaker != t.speaker:
		return false
	case s.hash == t.hash:
		return true
	}
	return s.sketch != nil && t.sketch != nil && minhash.Similarity(s.sketch, t.sketch) >= nearFrom
}

// A repeats finds what a run says again. Its zero value has seen nothing.
type repeats struct {
	recent  []said         // the newest maxPeriod turns, the oldest one first
	matches [maxPeriod]int // for each period: how many of the newest turns say the same as the turn one period before

	exact   map[uint64]int // the turn of each of the last lookBack different texts, by hash
	hashes  []uint64       // in their order
	index   minhash.Index  // of the last lookBack texts that are no duplicates
	turns   []int          // the turn of each of these
	dropped int            // how many of these are no longer kept
}

// loop adds a turn and reports whether it is part of a loop: for some period p the turn
// and the p turns before it each say the same as the turn p places before them. Then
// the sequence of p turns has begun to occur for the third time in a row. It also
// returns the turn that is repeated.
func (r *repeats) loop(s said) (of int, ok bool) {
	for i := range r.matches {
		period := i + 1
		if len(r.recent) < period || !s.same(&r.recent[len(r.recent)-period]) {
			r.matches[i] = 0
			continue
		}
		r.matches[i]++
		if r.matches[i] > period && !ok {
			of, ok = r.recent[len(r.recent)-period].turn, true
		}
	}
	if r.recent = append(r.recent, s); len(r.recent) > maxPeriod {
		r.recent = append(r.recent[:0], r.recent[1:]...)
	}
	return of, ok
}

// duplicate adds a text and returns the earlier one that it repeats, in the same words
// or nearly.
func (r *repeats) duplicate(s said) (of int, kind Kind) {
	if s.sketch == nil {
		return 0, ""
	}
	if of, ok := r.exact[s.hash]; ok {
		return of, ExactDuplicate
	}
	if r.exact == nil {
		r.exact, r.index = map[uint64]int{}, minhash.Index{Keep: lookBack, From: nearFrom}
	}
	if len(r.hashes) == lookBack {
		delete(r.exact, r.hashes[0])
		r.hashes = append(r.hashes[:0], r.hashes[1:]...)
	}
	r.exact[s.hash] = s.turn
	r.hashes = append(r.hashes, s.hash)
	n, similarity := r.index.Nearest(s.sketch)
	if similarity > 0 {
		return r.turns[n-r.dropped], NearDuplicate
	}
	r.index.Add(s.sketch)
	if r.turns = append(r.turns, s.turn); len(r.turns) > lookBack {
		r.turns = append(r.turns[:0], r.turns[1:]...)
		r.dropped++
	}
	return 0, ""
}
