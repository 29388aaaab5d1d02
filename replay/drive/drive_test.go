package drive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/folkmoot/moot/replay/history"
)

func TestFindBaseline(t *testing.T) {
	for text, want := range map[string]string{
		"ABA": "ABA", "aba": "ABA", "round-robin": "round-robin", "Round-Robin": "round-robin", "address→ngram3": "address->ngram3",
		"mention -> ngram3": "mention->ngram3", "mention_only": "mention-only", "vocative_aba": "", "addressee*": "addressee", "": "", "best": "",
	} {
		if got := FindBaseline(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	for alias, name := range aliases {
		if findRule(name) == nil || FindBaseline(alias) != name {
			t.Errorf("alias %s is for %s, which is not a baseline", alias, name)
		}
	}
}

// TestLinesReadAgain: a simulation is the same whether the recorded lines are
// in memory or read again for each participant.
func TestLinesReadAgain(t *testing.T) {
	run := func() string {
		var b strings.Builder
		for people := range 4 { // none, one, two or three of the participants
			c := threeSpeakers(people)
			policies := []Policy{{Name: "ring", Baseline: "round-robin"}, {Name: "aba", Baseline: "ABA"}, {Name: "last", Baseline: "address->ngram3"}}
			h, err := history.Open(history.Transcript{Name: c.ID, Conversation: c})
			if err != nil {
				t.Fatal(err)
			}
			if err := h.Walk(0, nil, func(*history.Point) error { return nil }); err != nil {
				t.Fatal(err)
			}
			s, err := NewScenario(h)
			if err != nil {
				t.Fatal(err)
			}
			for i := range policies {
				result, err := Simulate(t.Context(), Config{Policies: policies}, i, h, s, func(p *history.Point, e *Evaluation) {
					fmt.Fprintln(&b, p.N, p.State.Seq, h.NameOf(e.Choice))
				})
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintln(&b, result)
			}
		}
		return b.String()
	}
	inMemory := run()
	defer func(n int) { maxLineBytes = n }(maxLineBytes)
	maxLineBytes = 0
	if again := run(); again != inMemory {
		t.Errorf("in memory:\n%s\nread again:\n%s", inMemory, again)
	}
}

// threeSpeakers is a conversation of which the first participants are people.
func threeSpeakers(people int) *history.Conversation {
	c := &history.Conversation{ID: fmt.Sprint("people/", people)}
	for i, id := range []string{"bob", "ann", "cid"} {
		kind := history.KindAgent
		if i < people {
			kind = history.KindHuman
		}
		c.Participants = append(c.Participants, history.Participant{ID: id, Kind: kind})
	}
	for i, id := range []string{"ann", "bob", "ann", "bob", "cid", "ann", "bob"} {
		c.Turns = append(c.Turns, history.Turn{Speaker: id, Text: fmt.Sprintf("%s's line %d", id, i)})
	}
	return c
}
