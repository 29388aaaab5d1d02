package score

import (
	"cmp"
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

// choiceWords are the words of negative choices.
var choiceWords = map[history.Choice]string{history.Declined: "d", history.Finished: "f", history.Failed: "e"}

// MarshalJSON writes one string.
func (c Cells) MarshalJSON() ([]byte, error) {
	words := make([]string, len(c))
	for i, x := range c {
		words[i] = cmp.Or(choiceWords[history.Choice(x)], strconv.Itoa(int(x)))
	}
	return json.Marshal(strings.Join(words, " "))
}

// UnmarshalJSON reads the form that MarshalJSON writes.
func (c *Cells) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	*c = nil
words:
	for _, word := range strings.Fields(text) {
		for choice, w := range choiceWords {
			if w == word {
				*c = append(*c, int16(choice))
				continue words
			}
		}
		n, err := strconv.ParseUint(word, 10, 15)
		if err != nil {
			return fmt.Errorf("%q is not a decision", word)
		}
		*c = append(*c, int16(n))
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
