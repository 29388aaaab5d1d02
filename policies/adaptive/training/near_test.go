package training

import (
	"fmt"
	"strings"
	"testing"

	"github.com/folkmoot/moot/replay/history"
)

func talkOf(id string, lines ...string) *history.Conversation {
	c := &history.Conversation{ID: id, Participants: []history.Participant{{ID: "a", Kind: "agent"}, {ID: "b", Kind: "agent"}, {ID: "c", Kind: "human"}}}
	for _, l := range lines {
		by, text, _ := strings.Cut(l, ": ")
		c.Turns = append(c.Turns, history.Turn{Speaker: by, Text: text})
	}
	return c
}

// lines are n lines of words that differ from talk to talk.
func lines(n, seed int) (all []string) {
	for i := range n {
		text := ""
		for w := range 12 {
			text += fmt.Sprintf("w%d ", (i*31+w*17+seed*1009)%997+seed*1000)
		}
		all = append(all, string("abc"[i%3])+": "+text)
	}
	return all
}

func TestDistinct(t *testing.T) {
	t.Parallel()
	first, other := lines(30, 1), lines(30, 2)
	changed := append(append([]string(nil), first[:27]...), "b: another end of the very same talk, with words of its own", "c: yes")
	distinct, near := Distinct([]*history.Conversation{talkOf("first", first...), talkOf("other", other...), talkOf("changed", changed...), talkOf("again", other...)})
	if len(distinct) != 2 || distinct[0].ID != "first" || distinct[1].ID != "other" {
		t.Errorf("%d distinct talks", len(distinct))
	}
	if len(near) != 2 || near[0].Talk != "changed" || near[0].Like != "first" || near[0].Alike > .99 || near[1] != (Near{"again", "other", 1}) {
		t.Errorf("near are %+v", near)
	}
}

// TestShortTalksAreNotNear: talks of a greeting each have nothing in common
// but the greeting.
func TestShortTalksAreNotNear(t *testing.T) {
	t.Parallel()
	_, near := Distinct([]*history.Conversation{
		talkOf("one", "a: hello everybody", "b: I deploy the thing now", "c: wait for me please"),
		talkOf("two", "a: hello everybody", "c: who has the numbers of May", "b: not me, ask the others"),
	})
	if len(near) != 0 {
		t.Errorf("near are %+v", near)
	}
}
