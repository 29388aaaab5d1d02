package logtest

import (
	"math"
	"testing"

	"github.com/anishathalye/porcupine"
)

// TestLinearizable checks that the model accepts what a log may do, and nothing else.
func TestLinearizable(t *testing.T) {
	op := func(from, to int64, c Call, a Answer) porcupine.Operation {
		return porcupine.Operation{Call: from, Return: to, Input: c, Output: a}
	}
	put := func(after int, ids string) Call { return Call{Op: Append, After: after, IDs: ids} }
	read := Call{Op: Read}
	again := func(after int, ids string) Call { return Call{Op: Again, After: after, IDs: ids} }
	post := func(id string) Call { return Call{Op: Post, IDs: id + ","} }
	const end = math.MaxInt64
	for name, c := range map[string]struct {
		want bool
		h    History
	}{
		"one after the other": {true, History{
			op(1, 2, put(0, "a,"), Answer{}), op(3, 4, put(1, "b,c,"), Answer{}), op(5, 6, read, Answer{IDs: "a,b,c,"}),
		}},
		"one of two at once": {true, History{
			op(1, 5, put(0, "a,"), Answer{}), op(1, 5, put(0, "b,"), Answer{Result: Conflict}), op(6, 7, read, Answer{IDs: "a,"}),
		}},
		"outcome unknown, stored": {true, History{
			op(1, end, put(0, "a,"), Answer{Result: Unknown}), op(6, 7, read, Answer{IDs: ""}), op(8, 9, read, Answer{IDs: "a,"}),
		}},
		"outcome unknown, not stored": {true, History{
			op(1, end, put(0, "a,"), Answer{Result: Unknown}), op(6, 7, put(0, "b,"), Answer{}), op(8, 9, read, Answer{IDs: "b,"}),
		}},
		"repeated":            {true, History{op(1, 2, put(0, "a,"), Answer{}), op(3, 4, again(0, "a,"), Answer{}), op(5, 6, read, Answer{IDs: "a,"})}},
		"id at another place": {true, History{op(1, 2, put(0, "a,"), Answer{}), op(3, 4, put(1, "a,"), Answer{Result: Conflict})}},
		"post again":          {true, History{op(1, 2, post("a"), Answer{}), op(3, 4, post("a"), Answer{}), op(5, 6, read, Answer{IDs: "a,"})}},
		"post again without an answer": {true, History{
			op(1, end, post("a"), Answer{Result: Unknown}), op(3, 4, post("b"), Answer{}), op(5, 6, post("a"), Answer{}), op(7, 8, read, Answer{IDs: "b,a,"}),
		}},

		"post twice":           {false, History{op(1, 2, post("a"), Answer{}), op(3, 4, post("a"), Answer{}), op(5, 6, read, Answer{IDs: "a,a,"})}},
		"post lost":            {false, History{op(1, 2, post("a"), Answer{}), op(3, 4, read, Answer{})}},
		"posts in wrong order": {false, History{op(1, 2, post("a"), Answer{}), op(3, 4, post("b"), Answer{}), op(5, 6, read, Answer{IDs: "b,a,"})}},

		"fork":  {false, History{op(1, 2, put(0, "a,"), Answer{}), op(3, 4, put(0, "b,"), Answer{})}},
		"lost":  {false, History{op(1, 2, put(0, "a,"), Answer{}), op(3, 4, read, Answer{})}},
		"twice": {false, History{op(1, 2, put(0, "a,"), Answer{}), op(3, 4, again(0, "a,"), Answer{}), op(5, 6, read, Answer{IDs: "a,a,"})}},
		"read what is gone later": {false, History{
			op(1, end, put(0, "a,"), Answer{Result: Unknown}), op(3, 4, read, Answer{IDs: "a,"}), op(5, 6, read, Answer{}),
		}},
		"half":                   {false, History{op(1, end, put(0, "a,b,"), Answer{Result: Unknown}), op(3, 4, read, Answer{IDs: "a,"})}},
		"conflict at the end":    {false, History{op(1, 2, put(0, "a,"), Answer{Result: Conflict})}},
		"conflict but stored":    {false, History{op(1, 2, put(0, "a,"), Answer{Result: Conflict}), op(3, 4, read, Answer{IDs: "a,"})}},
		"the id twice":           {false, History{op(1, 2, put(0, "a,"), Answer{}), op(3, 4, put(1, "a,"), Answer{})}},
		"read of no append":      {false, History{op(1, 2, read, Answer{IDs: "a,"})}},
		"read before its append": {false, History{op(1, 2, read, Answer{IDs: "a,"}), op(3, 4, put(0, "a,"), Answer{})}},
	} {
		if got := c.h.Linearizable(); got != c.want {
			t.Errorf("%s: linearizable is %v\n%s", name, got, c.h)
		}
	}
}
