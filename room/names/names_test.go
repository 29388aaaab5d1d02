package names

import (
	"slices"
	"strings"
	"testing"
)

func TestScan(t *testing.T) {
	ids := []string{"dba", "Security_Expert", "WebSurfer", "Computer_terminal", "Data_Expert", "yuki"}
	display := []string{"Database Admin", "", "", "", "", "Yuki Tanaka"}
	for _, c := range []struct {
		text, speaker       string
		mentions, addressed string // ids between spaces
	}{
		{"", "dba", "", ""},
		{"nothing here", "dba", "", ""},
		{"dba, can you look?", "yuki", "dba", "dba"},
		{"dba, can you look?", "dba", "", ""}, // its own name never counts
		{"ok thanks, DBA: please look", "yuki", "dba", "dba"},
		{"I would ask the dba about it", "yuki", "dba", ""},
		{"I would ask the dba", "yuki", "dba", "dba"},
		{"what of (@dba)? tell me", "yuki", "dba", "dba"},
		{"what of dba@host? tell me", "yuki", "dba", ""}, // a phrase, not a token
		{"Security Expert should decide it", "dba", "Security_Expert", "Security_Expert"},
		{"security should decide it", "dba", "Security_Expert", "Security_Expert"},
		{"the expert should decide it", "dba", "", ""}, // common to two, and no name
		{"web surfer, fetch", "dba", "WebSurfer", "WebSurfer"},
		{"run it in the Terminal now", "dba", "Computer_terminal", ""},
		{"database admin, look", "yuki", "dba", "dba"},
		{"tanaka saw it", "dba", "yuki", "yuki"},
		{"dba saw it, then yuki and dba did so", "WebSurfer", "yuki dba", "dba"}, // last named last
		{"yuki saw it, ask @dba or @terminal here", "WebSurfer", "yuki dba Computer_terminal", "dba yuki"},
		{"hey yuki saw it, ask @dba here", "WebSurfer", "yuki dba", "dba yuki"},
		{"what of @yuki, or @dba here", "WebSurfer", "yuki dba", "yuki dba"},
		{"data Data_Expert", "dba", "Data_Expert", "Data_Expert"},
		{"*WebSurfer* is next", "nobody", "WebSurfer", "WebSurfer"},
		{"\u2003ÉCLAIR yuki\u2003", "dba", "yuki", "yuki"},
	} {
		n := New(ids, display)
		mentions, addressed := n.Scan(c.text, c.speaker)
		if got := strings.Join(mentions, " "); got != c.mentions {
			t.Errorf("%q: mentions %q, want %q", c.text, got, c.mentions)
		}
		if got := strings.Join(addressed, " "); got != c.addressed {
			t.Errorf("%q: addressed %q, want %q", c.text, got, c.addressed)
		}
	}
}

func TestSharedNames(t *testing.T) {
	n := New([]string{"Ann_Lee", "Ann_Ray", "bob", "carol"}, []string{"", "", "Robert", "bob"})
	for text, want := range map[string]string{
		"ann knows":        "",        // two have it
		"lee knows":        "Ann_Lee", // one has it
		"bob knows":        "bob",     // an id outranks another's display name
		"robert knows":     "bob",
		"Ann Ray knows it": "Ann_Ray",
	} {
		mentions, _ := n.Scan(text, "")
		if got := strings.Join(mentions, " "); got != want {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}

// TestRosterOrder checks that the order of the roster does not change the result.
func TestRosterOrder(t *testing.T) {
	ids := []string{"a_smith", "b_smith", "smith", "c_jones", "Dan"}
	texts := []string{"smith, jones and dan", "@dan or a smith", "thanks B_Smith", "jones? @smith! dan"}
	var want []string
	for turn := range ids {
		roster := append(slices.Clone(ids[turn:]), ids[:turn]...)
		n := New(roster, nil)
		var got []string
		for _, text := range texts {
			mentions, addressed := n.Scan(text, "Dan")
			got = append(got, strings.Join(mentions, " ")+"|"+strings.Join(addressed, " "))
		}
		if turn == 0 {
			want = got
		} else if !slices.Equal(got, want) {
			t.Errorf("roster %v gives %q, want %q", roster, got, want)
		}
	}
}

func TestFirst(t *testing.T) {
	n := New([]string{"dba", "Security_Expert", "yuki"}, nil)
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

func FuzzScan(f *testing.F) {
	f.Add("Ann, ask @bob or Web Surfer", "Ann_Lee", "WebSurfer")
	f.Add("\xff@\xc3\u212a", "\u212a", "İ x")
	f.Fuzz(func(t *testing.T, text, a, b string) {
		ids := []string{a, b, "bob"}
		mentions, addressed := New(ids, []string{b, "", a}).Scan(text, a)
		for _, id := range addressed {
			if !slices.Contains(mentions, id) {
				t.Errorf("%q is addressed but not mentioned", id)
			}
		}
		for i, id := range mentions {
			if id == a && a != b && a != "bob" || !slices.Contains(ids, id) || slices.Contains(mentions[:i], id) {
				t.Errorf("mentions %q of %q", mentions, ids)
			}
		}
	})
}

func BenchmarkScan(b *testing.B) {
	n := New([]string{"Computer_terminal", "Python_Expert", "Statistics_Expert", "Verification_Expert"}, nil)
	text := strings.Repeat("To verify the sum we run the script below and compare what it prints. ", 14) + "Python Expert, please check."
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		n.Scan(text, "Computer_terminal")
	}
}
