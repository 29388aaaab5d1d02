package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"testing"
)

// TestScript: whether what was said is held, or read again by everybody who
// speaks, makes no difference.
func TestScript(t *testing.T) {
	people, mixed := agents(), agents()
	for i := range people.Participants {
		people.Participants[i].Kind = KindHuman
	}
	mixed.Participants[1].Kind = KindHuman
	subjects := []Subject{{Name: "ring", Baseline: "round-robin"}, {Name: "aba", Baseline: "ABA"}, {Name: "last", Baseline: "address->ngram3"}}
	run := func() []byte {
		r, err := Run(t.Context(), Config{Subjects: subjects, Simulate: true, Workers: 1}, func(yield func(Transcript, error) bool) {
			for i, talk := range []*Talk{agents(), people, mixed} {
				if !yield(Transcript{Name: fmt.Sprint(i), Talk: talk}, nil) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(`"seconds":[^,]*`).ReplaceAll(b, nil)
	}
	held := run()
	defer func(was int) { heldBytes = was }(heldBytes)
	heldBytes = 0
	if again := run(); !bytes.Equal(again, held) {
		t.Errorf("held:\n%s\nread again:\n%s", held, again)
	}
}
