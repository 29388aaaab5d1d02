package adaptive

import "github.com/folkmoot/moot/policies/policy"

// A Study is a decision as the law of a team sees it, for training.
type Study struct {
	State policy.JSON // state for the next decision
	room  *room
}

// Study adds the messages of in, like Decide, and computes the features of the
// candidates. The policy must have a Team. The result is valid until the next call.
func (p *Policy) Study(in *policy.Input) Study {
	p.observe(in)
	p.room.predict()
	return Study{State: p.room.save(), room: p.room}
}

// Rows returns the number of candidates.
func (s Study) Rows() int { return len(s.room.rows) }

// Row returns the features of candidate i.
func (s Study) Row(i int) [Features]float64 { return s.room.rows[i].x }

// Of returns the index of the candidate id, or -1.
func (s Study) Of(id string) int {
	for i := range s.room.rows {
		if s.room.agents[s.room.rows[i].seat].ID == id {
			return i
		}
	}
	return -1
}

// Keys returns the keys under which a Team counts that id was the next speaker.
func (s Study) Keys(id string) (keys [contexts]uint32) {
	for i, c := range s.room.context() {
		keys[i] = keyOf(c, id)
	}
	return keys
}

// Slots returns the slots of the words for candidate i, two for each word.
func (s Study) Slots(i int) (all []int) {
	w := &s.room.rows[i]
	id := hash(s.room.agents[w.seat].ID)
	for _, word := range s.room.last.words {
		a, b := slots(word, w.bucket, id)
		all = append(all, a, b)
	}
	return all
}
