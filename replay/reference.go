package replay

import (
	"context"
	"encoding/binary"
	"hash/fnv"

	"github.com/folkmoot/moot/policies/policy"
)

// A reference makes the decisions of a baseline in one transcript.
type reference struct {
	*baseline
	experts *experts
	rated   [][maxKeys]float64 // by candidate
}

const maxKeys = 4

func newReference(name string) *reference {
	r := &reference{baseline: baselineOf(name)}
	if r.kind == learns {
		r.experts = newExperts()
	}
	return r
}

// decide chooses by the baseline.
func (r *reference) decide(_ context.Context, p *point) (verdict, error) {
	if len(p.candidates) == 0 {
		return r.nobody("nobody can be chosen"), nil
	}
	keys := r.keys
	switch r.kind {
	case draws:
		return r.draw(p), nil
	case learns:
		keys = r.experts.keys(p)
	}
	at := r.first(p, keys)
	if r.strict && r.rated[at][0] == 0 {
		return r.nobody("nobody is named"), nil
	}
	v := r.speak(p, p.candidates[at])
	if p.truth.speaks() {
		v.place = r.place(p, len(keys), int(p.truth))
	}
	return v, nil
}

func (r *reference) nobody(reason string) verdict {
	return verdict{said: declined, guess: declined, confidence: -1, decision: policy.Decline(reason)}
}

func (r *reference) speak(p *point, c int) verdict {
	return verdict{said: answer(c), guess: answer(c), confidence: -1, decision: policy.Speak(p.h.seats[c].id, "")}
}

// draw chooses anybody. Whom depends on room and point alone; how often that is
// right is an expectation and not a matter of luck.
func (r *reference) draw(p *point) verdict {
	f := fnv.New64a()
	_, _ = f.Write([]byte(p.h.name)) // never fails
	_, _ = f.Write(binary.BigEndian.AppendUint64(nil, uint64(p.n)))
	n := len(p.candidates)
	v := r.speak(p, p.candidates[f.Sum64()%uint64(n)])
	v.odds = 1 / float64(n)
	for i := 1; i <= n; i++ {
		v.reciprocal += v.odds / float64(i)
	}
	return v
}

// first rates the candidates and returns the place of the first.
func (r *reference) first(p *point, keys []key) int {
	r.rated = r.rated[:0]
	best := 0
	for i, c := range p.candidates {
		var x [maxKeys]float64
		for j, k := range keys {
			x[j] = k(p, c)
		}
		r.rated = append(r.rated, x)
		if i > 0 && r.before(p, i, best, len(keys)) {
			best = i
		}
	}
	return best
}

// before reports whether the candidate at i ranks before the one at j.
func (r *reference) before(p *point, i, j, keys int) bool {
	for k := range keys {
		if x, y := r.rated[i][k], r.rated[j][k]; x != y {
			return x > y
		}
	}
	return p.fresher(p.candidates[i], p.candidates[j])
}

// place is the rank of a seat, from 1; 0 when it is no candidate.
func (r *reference) place(p *point, keys, who int) int {
	at := -1
	for i, c := range p.candidates {
		if c == who {
			at = i
		}
	}
	if at < 0 {
		return 0
	}
	place := 1
	for i := range p.candidates {
		if i != at && r.before(p, i, at, keys) {
			place++
		}
	}
	return place
}

// experts keeps how often each of some rules has been right of late.
type experts struct {
	rules []*reference
	picks []int // at the last point; nil before the first
	right []float64
}

func newExperts() *experts {
	e := &experts{right: make([]float64, len(expertNames))}
	for _, name := range expertNames {
		e.rules = append(e.rules, newReference(name))
	}
	return e
}

// keys takes in who spoke since the last point and returns the keys of the
// rule that is ahead now, behind whom the last turn addresses.
func (e *experts) keys(p *point) []key {
	const fading = 0.95
	for i, pick := range e.picks {
		e.right[i] = fading*e.right[i] + yes(pick == p.last)
	}
	best := 0
	e.picks = e.picks[:0]
	for i, r := range e.rules {
		if e.right[i] > e.right[best] {
			best = i
		}
		e.picks = append(e.picks, p.candidates[r.first(p, r.keys)])
	}
	return append([]key{addressed}, e.rules[best].keys...)
}
