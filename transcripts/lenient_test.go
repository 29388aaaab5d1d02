package transcripts

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestLenient: turns and participants that break the neutral format are left out,
// counted and named; parts of them are ignored.
func TestLenient(t *testing.T) {
	const people = `"participants":[{"id":"a","kind":"human"},{"id":"b","kind":"agent"}]`
	for name, c := range map[string]struct {
		line             string
		texts            string // of the turns; "-" if nothing can be used
		skipped, changed int
		fault            string // the first one
	}{
		"good":        {`{"id":"x",` + people + `,"turns":[{"i":0,"speaker":"a","text":"1"}]}`, "1", 0, 0, ""},
		"addressee":   {`{"id":"x",` + people + `,"turns":[{"i":0,"speaker":"a","text":"1","addressees":["z","b"]}]}`, "1", 0, 1, `turns[0]: addressee "z" is not a participant`},
		"speaker":     {`{"id":"x",` + people + `,"turns":[{"i":0,"speaker":"z","text":"1"},{"i":1,"speaker":"a","text":"2"}]}`, "2", 1, 0, `turns[0]: speaker "z" is not a participant`},
		"empty id":    {`{"id":"x","participants":[{"id":"","kind":"human"},{"id":"a","kind":"human"}],"turns":[{"i":0,"speaker":"","text":"1"},{"i":1,"speaker":"a","text":"2"}]}`, "2", 2, 0, `participants[0]: "id" is missing`},
		"unknown key": {`{"id":"x","mood":1,` + people + `,"turns":[{"i":0,"speaker":"a","text":"1","mood":"x"}]}`, "1", 0, 2, `unknown key "mood"`},
		"type":        {`{"id":"x",` + people + `,"turns":[{"i":0,"speaker":"a","text":7},{"i":1,"speaker":"b","text":"2"}]}`, "2", 1, 0, `turns[0]: "text" may not be`},
		"time":        {`{"id":"x",` + people + `,"turns":[{"i":0,"speaker":"a","text":"1","at":"noon"},{"i":1,"speaker":"b","text":"2"}]}`, "2", 1, 0, `turns[0]: at "noon" is not an ISO time`},
		"usage":       {`{"id":"x",` + people + `,"turns":[{"i":0,"speaker":"a","text":"1","usage":{"known":true,"output_tokens":-1}}]}`, "1", 0, 1, "turns[0]: output_tokens of the usage is out of range"},
		"order":       {`{"id":"x",` + people + `,"turns":[{"i":4,"speaker":"a","text":"1"}]}`, "1", 0, 1, "turns[0]: i is 4"},
		"kind":        {`{"id":"x","participants":[{"id":"a","kind":"robot"},{"id":"b","kind":"agent"}],"turns":[{"i":0,"speaker":"b","text":"1"}]}`, "1", 1, 0, `participants[0]: kind "robot"`},
		"no id":       {`{` + people + `,"turns":[]}`, "-", 1, 0, `"id" is missing`},
		"no JSON":     {`{"id":`, "-", 1, 0, "unexpected end"},
		"no people":   {`{"id":"x","turns":[{"i":0,"speaker":"a","text":"1"}]}`, "-", 1, 0, `turns[0]: speaker "a" is not a participant`},
	} {
		t.Run(name, func(t *testing.T) {
			all := lenient(t, c.line+"\n"+`{"id":"y",`+people+`,"turns":[]}`)
			x := all[0]
			texts := "-"
			if x.Conversation != nil {
				texts = ""
				for i, turn := range x.Turns {
					if turn.I != i {
						t.Errorf("turn %d has the number %d", i, turn.I)
					}
					texts = strings.TrimSpace(texts + " " + turn.Text)
				}
			}
			if texts != c.texts || x.Skipped != c.skipped || x.Changed != c.changed || (len(x.Faults) > 0) != (c.fault != "") {
				t.Fatalf("%q, %d skipped, %d changed, %v", texts, x.Skipped, x.Changed, x.Faults)
			}
			if c.fault != "" && !strings.HasPrefix(x.Faults[0].Error(), c.fault) {
				t.Errorf("%v", x.Faults)
			}
			if len(all) != 2 || all[1].Conversation == nil || all[1].Line != 2 {
				t.Errorf("the next line is %+v", all[1])
			}
		})
	}
}

func lenient(t testing.TB, text string) (all []Lenient) {
	t.Helper()
	r, err := NewReader(strings.NewReader(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	for x, err := range r.Lenient() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	return all
}

// TestLenientNamesFew: many faults are counted, and the first of them named.
func TestLenientNamesFew(t *testing.T) {
	turns := make([]string, 100)
	for i := range turns {
		turns[i] = fmt.Sprintf(`{"i":%d,"speaker":"z","text":""}`, i)
	}
	x := lenient(t, `{"id":"x","participants":[{"id":"a","kind":"human"}],"turns":[`+strings.Join(turns, ",")+`]}`)[0]
	if x.Skipped != 100 || len(x.Faults) != maxFaults {
		t.Errorf("%d skipped, %d named", x.Skipped, len(x.Faults))
	}
}

// FuzzLenient: the strict reader takes what the lenient one keeps.
func FuzzLenient(f *testing.F) {
	f.Add(`{"id":"x","participants":[{"id":"","kind":"human"},{"id":"a","kind":"human"}],"turns":[{"i":3,"speaker":"a","text":"1","x":1,"addressees":["z"]},7]}`)
	f.Fuzz(func(t *testing.T, line string) {
		var x Lenient
		x.decode([]byte(line))
		if x.Conversation == nil {
			if len(x.Faults) == 0 || x.Skipped == 0 {
				t.Fatalf("nothing is kept, and no fault is named: %+v", x)
			}
			return
		}
		b, err := json.Marshal(x.Conversation)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decodeConversation(b); err != nil && len(b) < MaxLine {
			t.Fatalf("%s: %v", b, err)
		}
	})
}
