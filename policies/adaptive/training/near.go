package training

import (
	"strings"

	"github.com/folkmoot/moot/internal/minhash"
	"github.com/folkmoot/moot/replay/history"
)

// A Near is a near duplicate of an earlier talk. Near duplicates, such as a run and
// its repetition, would make training look perfect: one talk predicts the other.
type Near struct {
	Talk  string  `json:"talk"`  // its id
	Like  string  `json:"like"`  // the id of the earlier one
	Alike float64 `json:"alike"` // estimated share of the runs of words that both have, from 0 to 1
}

// nearFrom is the similarity from which a talk is a near duplicate.
const nearFrom = 0.5

// Distinct returns the talks without near duplicates of an earlier one, and the
// near duplicates.
func Distinct(talks []*history.Conversation) (distinct []*history.Conversation, near []Near) {
	var index minhash.Index
	for _, t := range talks {
		texts := make([][]string, len(t.Turns))
		for i := range t.Turns {
			texts[i] = strings.Fields(strings.ToLower(t.Turns[i].Text))
		}
		s := minhash.Of(texts...)
		if like, alike := index.Nearest(s); alike >= nearFrom {
			near = append(near, Near{t.ID, distinct[like].ID, alike})
			continue
		}
		index.Add(s)
		distinct = append(distinct, t)
	}
	return distinct, near
}
