package room

import (
	"strings"
	"testing"
)

func TestNamesFirst(t *testing.T) {
	n := NewNames([]string{"dba", "Security_Expert", "yuki"}, nil)
	for _, c := range []struct{ text, speaker, named, lead string }{
		{"", "dba", "", ""},
		{"dba saw it, then yuki and dba did so", "", "dba yuki", "dba"},
		{"thanks, yuki and dba", "", "yuki dba", ""}, // an opener is no start
		{"Security Expert and yuki", "", "Security_Expert yuki", "Security_Expert"},
		{"dba asks yuki", "dba", "yuki", ""},
	} {
		named, lead := n.First(c.text, c.speaker)
		if got := strings.Join(named, " "); got != c.named || lead != c.lead {
			t.Errorf("%q: %q and %q at the start, want %q and %q", c.text, got, lead, c.named, c.lead)
		}
	}
}
