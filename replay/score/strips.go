package score

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/replay/history"
)

// A Strip is one transcript decision by decision, as far as it is kept.
type Strip struct {
	Transcript   string   `json:"transcript"`
	Judged       bool     `json:"judged"` // all rows have the same decision points, so that they can be compared
	Participants []string `json:"participants"`
	Reasons      []string `json:"reasons"`
	Rows         []Row    `json:"rows"` // the recorded first, then the policies
}

// A Row is the choices of one policy.
type Row struct {
	Said Cells `json:"said"` // indexes of Participants
	Why  Cells `json:"why"`  // indexes of Reasons
}

// Cells are one value for each decision: an index of a list, or a negative
// [history.Choice]. Their JSON form is one string with a word for each, d for
// decline, f for finish and e for error.
type Cells []int16

// MarshalJSON writes one string.
func (c Cells) MarshalJSON() ([]byte, error) {
	b := []byte{'"'}
	for i, x := range c {
		if i > 0 {
			b = append(b, ' ')
		}
		switch history.Choice(x) {
		case history.Declined:
			b = append(b, 'd')
		case history.Finished:
			b = append(b, 'f')
		case history.Failed:
			b = append(b, 'e')
		default:
			b = strconv.AppendInt(b, int64(x), 10)
		}
	}
	return append(b, '"'), nil
}

// UnmarshalJSON reads the form that MarshalJSON writes.
func (c *Cells) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	*c = nil
	for _, word := range strings.Fields(text) {
		x := map[string]history.Choice{"d": history.Declined, "f": history.Finished, "e": history.Failed}[word]
		if x == 0 {
			n, err := strconv.ParseUint(word, 10, 15)
			if err != nil {
				return fmt.Errorf("%q is not a decision", word)
			}
			x = history.Choice(n)
		}
		*c = append(*c, int16(x))
	}
	return nil
}

// Strip returns the decisions of r that were kept.
func (r *Run) Strip() Strip {
	s := Strip{Transcript: r.History.Name, Judged: r.equal != nil, Reasons: []string{}}
	for _, x := range r.History.Seats {
		s.Participants = append(s.Participants, x.ID)
	}
	indexes := map[string]int16{}
	for k := recorded; k < len(r.tallies); k++ {
		t := r.tally(k)
		row := Row{Said: Cells{}, Why: Cells{}}
		for i, c := range t.choices {
			row.Said = append(row.Said, int16(c))
			reason := t.details[i]
			at, ok := indexes[reason]
			switch {
			case reason == "":
				at = int16(history.Declined)
			case !ok:
				at = int16(len(s.Reasons))
				indexes[reason] = at
				s.Reasons = append(s.Reasons, reason)
			}
			row.Why = append(row.Why, at)
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}
