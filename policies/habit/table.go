package habit

import (
	"slices"

	"github.com/folkmoot/moot/policies/policy"
)

// A table holds the candidates of a decision.
type table struct {
	in         *policy.Input
	said       *policy.Event // the latest message since the previous decision; nil for none
	last       int           // seat of the latest speaker that has turns; -1 for none
	seats      []int         // of the candidates
	candidates []Candidate
	keys       []Keys // by the rule of the latest call of best
}

func newTable(in *policy.Input, named bool) *table {
	t := &table{in: in, said: in.LastSaid(), last: in.LastSpeaker()}
	silent := t.last // does not answer itself
	if t.said != nil {
		silent = in.Seat(t.said.From)
	}
	for i := range in.Agents {
		if a := &in.Agents[i]; a.Eligible && i != silent {
			t.seats = append(t.seats, i)
			t.candidates = append(t.candidates, Candidate{
				Turns: a.Turns, Followed: a.Followed, Spoke: a.LastTurn, Steps: t.steps(i),
			})
		}
	}
	if t.said != nil {
		t.ask(named)
	}
	return t
}

// steps returns the number of steps from the latest speaker to i in the order of the
// participants.
func (t *table) steps(i int) int { return (i - t.last - 1 + len(t.in.Agents)) % len(t.in.Agents) }

// ask notes the candidates that the latest message addresses and names.
func (t *table) ask(named bool) {
	e := t.said
	addressed := ""
	if n := len(e.Addressed); n > 0 {
		addressed = e.Addressed[n-1]
	}
	for i := range t.candidates {
		c, id := &t.candidates[i], t.in.Agents[t.seats[i]].ID
		c.Addressed = id == addressed
		for at, name := range e.Mentions {
			if named && name == id {
				last := at == len(e.Mentions)-1
				c.Named = Named(at, c.Addressed && !last && begins(e.Text, t.in.Agents, t.seats[i]), last)
			}
		}
	}
}

// best returns the index of the first of the candidates that the rule prefers.
func (t *table) best(r Rule) int {
	t.keys = t.keys[:0]
	best := 0
	for i := range t.candidates {
		t.keys = append(t.keys, r.Keys(&t.candidates[i]))
		if t.keys[i].Compare(t.keys[best]) > 0 {
			best = i
		}
	}
	return best
}

// pick returns the seat that the rule prefers.
func (t *table) pick(r Rule) int { return t.seats[t.best(r)] }

// scores rates each candidate by the number of better ones, below 0. Ties have equal
// scores.
func (t *table) scores() []policy.Score {
	order := make([]int, len(t.seats))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return t.keys[b].Compare(t.keys[a]) })
	scores := make([]policy.Score, len(order))
	better := 0
	for n, i := range order {
		if n > 0 && t.keys[i] != t.keys[order[n-1]] {
			better = n
		}
		scores[n] = policy.Score{Agent: t.in.Agents[t.seats[i]].ID, Score: float64(-better)}
	}
	return scores
}
