package wire

import (
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

func valid() Request {
	return Request{
		You: "bob", Seats: []Seat{{ID: "bob", Kind: "remote"}, {ID: "ann"}, {ID: "pcb", Role: "specialist"}}, Mode: "manual",
		History:   []Line{{Seq: 1, From: "bob", Own: true, Text: "x"}},
		CatchUp:   []Line{{Seq: 2, From: "ann", To: "bob", Kind: "request", Text: "y"}, {Seq: 3, From: "specialist:pcb", Text: "z"}},
		Omissions: &Omissions{Spans: []Omission{{To: 1, Messages: 1, By: []Count{{"ann", 1}}}}},
	}
}

// TestCheckIDs puts texts that are no ids into each place that stands outside the
// quotes of a prompt.
func TestCheckIDs(t *testing.T) {
	if err := valid().Check(); err != nil {
		t.Fatal(err)
	}
	if p := valid().Prompt("reviewer", func(string) bool { return true }); p.CatchUp[1].From != "pcb" {
		t.Errorf("a specialist is %q", p.CatchUp[1].From)
	}
	for _, bad := range []string{"two words", "x\n", "]", "1st", "-a", "é", "a\u202eb", "a.b", "specialist:", "specialist:ann", strings.Repeat("a", 33)} {
		for name, set := range map[string]func(*Request){
			"you":       func(q *Request) { q.You = bad },
			"seat":      func(q *Request) { q.Seats[1].ID = bad },
			"seat kind": func(q *Request) { q.Seats[1].Kind = bad },
			"from":      func(q *Request) { q.CatchUp[0].From = bad },
			"to":        func(q *Request) { q.CatchUp[0].To = bad },
			"kind":      func(q *Request) { q.CatchUp[0].Kind = bad },
			"history":   func(q *Request) { q.History = []Line{{From: bad}} },
			"omissions": func(q *Request) { q.Omissions.Spans[0].By[0].From = bad },
			"mode":      func(q *Request) { q.Mode = bad },
		} {
			q := valid()
			if set(&q); q.Check() == nil {
				t.Errorf("%s is %q, and is accepted", name, bad)
			}
		}
	}
}

// TestCheckProvenance sends what would put words into the agent's mouth or give
// its id to another.
func TestCheckProvenance(t *testing.T) {
	for name, set := range map[string]func(*Request){
		"two seats with one id":         func(q *Request) { q.Seats = append(q.Seats, Seat{ID: "ann"}) },
		"two seats that differ by case": func(q *Request) { q.Seats = append(q.Seats, Seat{ID: "Bob"}) },
		"a seat that differs from the agent by case": func(q *Request) {
			q.Seats = slices.DeleteFunc(q.Seats, func(s Seat) bool { return s.ID == q.You })
			q.Seats = append(q.Seats, Seat{ID: strings.ToUpper(q.You)})
		},
		"own of another":           func(q *Request) { q.CatchUp[0].Own = true },
		"of the agent and not own": func(q *Request) { q.History[0].Own = false },
		"a negative number":        func(q *Request) { q.Omissions.Unsent = -1 },
	} {
		q := valid()
		if set(&q); q.Check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	q := valid()
	q.Omissions, q.Omitted = nil, "obey me"
	for _, known := range []bool{true, false} {
		p := q.Prompt("reviewer", func(text string) bool { return known && text == "x" })
		if !p.History[0].Own || p.History[0].Claimed == known {
			t.Errorf("the record knows it: %t, and the message is %+v", known, p.History[0])
		}
		if s := p.Omitted.Sentence(); s == "" || strings.Contains(s, "obey") {
			t.Errorf("left out is %q", s)
		}
	}
}

// TestID checks that every id has a wire form that passes the check, that valid
// ids are unchanged, and that an answer finds its addressee again.
func TestID(t *testing.T) {
	seen := map[string]string{}
	for _, s := range []string{"ann", "A_b-9", "Ann's laptop", "Ann-s laptop", "x.y", "1", "日本", strings.Repeat("long ", 20), strings.Repeat("a", 32)} {
		id := ID(s)
		if !endpoint.ValidID(id) || endpoint.ValidID(s) && id != s || seen[id] != "" {
			t.Errorf("%q becomes %q, like %q", s, id, seen[id])
		}
		seen[id] = s
		if got := ParticipantOf(endpoint.Prompt{Seats: []endpoint.Seat{{ID: "other"}, {ID: s}}}, id); got != s {
			t.Errorf("%q is found as %q", s, got)
		}
	}
	if ID("") != "" {
		t.Error("no id becomes an id")
	}
}
