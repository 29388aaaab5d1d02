package adaptive

import (
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	agents := []policy.Agent{
		{ID: "dba", Name: "dba"}, {ID: "WebSurfer", Name: "WebSurfer"}, {ID: "Data_Expert", Name: "Dana"}, {ID: "Tax_Expert", Name: "Tax_Expert"}, {ID: "Ö", Name: "Ö"},
	}
	for _, c := range []struct{ text, named, want string }{
		{"ask dba about it, as we said before and before that", "dba", "hand first"},
		{"dba: which locks? nobody else knows them", "dba", "colon first"},
		{"we should see what comes of it, and then, maybe, dba", "dba", "late first"},
		{"nobody but dba can say, as far as I know of these things", "dba", "hand first"},
		{"next speaker -> WebSurfer, who has the page at hand already", "WebSurfer", "hand colon first"},
		{"the web surfer has it, and much more than we need here", "WebSurfer", "first"},
		{"surfers know it, and much more than we need here", "WebSurfer", "first"}, // it is the only one named
		{"a question of data, as Dana knows well; the rest is for later", "Data_Expert", "first"},
		{"Dana will see; and DATA EXPERT, not the tax man, is whom I mean", "Data_Expert", "hand colon first"},
		{"let's hear ö: now and in this very moment, please", "Ö", "colon first"},
		{"dba or WebSurfer, who takes it? I do not know it, do you?", "dba", "first"},
		{"dba or WebSurfer, who takes it? I do not know it, do you?", "WebSurfer", "colon"},
	} {
		r := New().room
		r.seat(agents)
		r.count(hash("p"), humanKind, humanKind)
		e := policy.Event{From: "p", Kind: policy.KindHuman, Text: c.text, Mentions: []string{c.named}}
		if strings.Contains(c.text, "dba or") {
			e.Mentions = []string{"dba", "WebSurfer"}
		}
		r.addMessage(&e, false, true)
		got := ""
		for _, n := range r.last.named() {
			if n.who != hash(c.named) {
				continue
			}
			for i, word := range []string{"hand", "colon", "late", "first"} {
				if n.sign&[]uint8{namedHandover, namedColon, namedLate, namedFirst}[i] != 0 {
					got += " " + word
				}
			}
		}
		if strings.TrimSpace(got) != c.want {
			t.Errorf("%q: %s is%s, want %s", c.text, c.named, got, c.want)
		}
	}
}

func TestTextFlags(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]turn{
		"":                            {},
		"yes":                         {words: 1},
		"is it so? I think it is":     {question: true, words: 4},
		"(is it?\")\n":                {question: true, asks: true, words: 2},
		"run this:\n```go\nx()\n```":  {code: true, words: 4},
		"one two three four five six": {words: 4},
	} {
		r := New().room
		r.count(hash("p"), humanKind, humanKind)
		r.addMessage(&policy.Event{From: "p", Text: text}, false, true)
		got := r.last
		got.bag = nil
		if got.question != want.question || got.asks != want.asks || got.code != want.code || got.words != want.words {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// TestMoreOfATurn: messages in a row of one speaker are one turn.
func TestMoreOfATurn(t *testing.T) {
	t.Parallel()
	p := seated(t, "abc",
		says("a", "is it?"), policy.Event{From: "a", Kind: policy.KindMessage, Text: "ask c", Mentions: []string{"c"}},
		policy.Event{From: "a", Kind: policy.KindMessage, Text: "or b", Mentions: []string{"b"}, Addressed: []string{"b"}},
	)
	l := &p.room.last
	if p.room.turns != 1 || !l.question || l.asks || l.words != 4 || l.names != 2 || l.name[0].who != hash("c") || l.name[1].who != hash("b") ||
		l.voc != hash("b") || l.name[0].sign&namedFirst == 0 || l.name[1].sign&namedFirst != 0 {
		t.Errorf("%d turns, the last %+v", p.room.turns, *l)
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"Computer_terminal": true, "ToolUser": true, "codeExecutor": true, "py-interpreter": true, "SHELL": true,
		"carpool": false, "stool": false, "Eric": false, "": false, "Consoler": true, "determinal": false,
	} {
		if got := runs(&policy.Agent{ID: id, Kind: policy.Local}); got != want {
			t.Errorf("%q runs things: %t", id, got)
		}
	}
}

// TestWordsIn: the words in eight bytes are those of the table.
func TestWordsIn(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		text := "a" + string([]byte{byte(c)}) + " -" + string([]byte{byte(c), byte(c)})
		words := wordsIn(lastBytes(text))
		for i := range 8 {
			if got := words>>(8*i+7)&1 == 1; got != (i < len(text) && wordBytes[text[i]]) {
				t.Errorf("%q, byte %d: part of a word is %v", text, i, got)
			}
		}
	}
}

// TestMarks: question marks and fences are found wherever they stand.
func TestMarks(t *testing.T) {
	t.Parallel()
	for before := range 20 {
		for behind := range 12 {
			for mark, want := range map[string][2]bool{"?": {true, false}, "```": {false, true}, "``": {}, "`` `": {}, "\xc2\xbf": {}} {
				text := strings.Repeat("x", before) + mark + strings.Repeat("y", behind)
				s := scan{}
				s.run(text)
				if got := [2]bool{s.question, s.code}; got != want {
					t.Errorf("%q: question and code are %v", text, got)
				}
			}
		}
	}
}
