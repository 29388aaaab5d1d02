package adaptive

import "github.com/folkmoot/moot/policies/policy"

// A Study is a decision as the law of a team sees it, for training.
type Study struct {
	Keys  [contexts]uint32 // under which a Team counts the actual next speaker
	Truth int              // index of the actual next speaker in Rows, or -1
	Rows  []Candidate
}

// A Candidate has the features of a row and the slots of its words, two for each.
type Candidate struct {
	X     [Features]float64
	Slots []int
}

// Study adds the messages of in, like Decide, and describes the candidates, one of
// which is the actual next speaker. It also returns the state for the next decision,
// which is valid until the next call. The policy must have a Team.
func (p *Policy) Study(in *policy.Input, next string) (Study, policy.JSON) {
	p.observe(in)
	r := p.room
	r.predict()
	s := Study{Truth: -1}
	for i, c := range r.context() {
		s.Keys[i] = keyOf(c, next)
	}
	for i := range r.rows {
		w := &r.rows[i]
		id := r.agents[w.seat].ID
		if id == next {
			s.Truth = i
		}
		s.Rows = append(s.Rows, Candidate{w.x, r.slotsOf(w, hash(id))})
	}
	return s, r.save()
}

func (r *room) slotsOf(w *row, id uint64) (all []int) {
	for _, word := range r.last.words {
		a, b := slots(word, w.bucket, id)
		all = append(all, a, b)
	}
	return all
}
