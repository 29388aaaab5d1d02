package foreign

import (
	"slices"

	"github.com/folkmoot/moot/transcripts"
)

// A Conversation is one that was read, and the account of it.
type Conversation struct {
	*transcripts.Conversation
	Report Report
}

// A Report accounts for every piece of a source. A piece is the smallest part
// that could be a turn: a message, or one block of it where a form has blocks.
// Pieces is Turns + Joined + all of Left.
type Report struct {
	Format  Format  `json:"format"`
	Pieces  int     `json:"pieces"`
	Turns   int     `json:"turns"`
	Joined  int     `json:"joined"`             // to the turn before, as parts of one message
	Left    []Count `json:"left_out,omitempty"` // in the order of their first appearance
	Changed []Count `json:"changed,omitempty"`  // taken, but not as they were
	Order   string  `json:"order,omitempty"`    // how turns were put in line, of a form that is no line itself
}

// A Count says of how many pieces something holds.
type Count struct {
	Why string `json:"why"`
	N   int    `json:"n"`
}

// LeftOut returns how many pieces were left out.
func (r Report) LeftOut() int {
	n := 0
	for _, c := range r.Left {
		n += c.N
	}
	return n
}

// maxReasons bounds how many reasons are told apart: some name what stands in
// the file.
const maxReasons = 64

// add counts one more of why.
func add(counts []Count, why string) []Count {
	if len(counts) >= maxReasons && !slices.ContainsFunc(counts, func(c Count) bool { return c.Why == why }) {
		why = "for one of many other reasons"
	}
	for i := range counts {
		if counts[i].Why == why {
			counts[i].N++
			return counts
		}
	}
	return append(counts, Count{why, 1})
}
