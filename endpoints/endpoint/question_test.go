package endpoint

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func number[T any](n T) *T { return &n }

// form is a form with fields of each type.
func form() Question {
	return Question{Message: "Which?", Fields: []Field{
		{Name: "one", Type: FieldString, Options: []Option{{Value: "a", Title: "Alpha"}, {Value: "b c"}}, Required: true},
		{Name: "text", Type: FieldString, MinLength: number(2), MaxLength: number(4), Pattern: "^[a-zé]+$"},
		{Name: "many", Type: FieldArray, Options: []Option{{Value: "x"}, {Value: "y"}, {Value: "z", Title: "Zed"}}, MinItems: number(1), MaxItems: number(2)},
		{Name: "n", Type: FieldNumber, Minimum: number(-1.5), Maximum: number(2.0)},
		{Name: "i", Type: FieldInteger, Default: json.RawMessage(`3`)},
		{Name: "yes", Type: FieldBoolean, Default: json.RawMessage(`true`)},
		{Name: "mail", Type: FieldString, Format: "email"},
		{Name: "uri", Type: FieldString, Format: "uri"},
		{Name: "day", Type: FieldString, Format: "date"},
		{Name: "at", Type: FieldString, Format: "date-time"},
		{Name: "odd", Type: FieldString, Format: "song", Pattern: "(?<!a)"},
	}}
}

// TestFill: values fit the form, or the error names the field. Defaults are filled in.
func TestFill(t *testing.T) {
	for values, want := range map[string]string{
		`{"one":"a"}`:                              `{"i":3,"one":"a","yes":true}`,
		`{"one":"b c","i":null,"yes":null}`:        `{"one":"b c"}`,
		`{"one":"a","text":"","many":[],"i":4.0}`:  `{"i":4,"one":"a","yes":true}`,
		`{"one":"a","i":1e3,"yes":false,"n":-1.5}`: `{"i":1000,"n":-1.5,"one":"a","yes":false}`,
		`{"one":"a","i":9007199254740992}`:         `{"i":9007199254740992,"one":"a","yes":true}`,
		`{"one":"a","many":["z","x"],"text":"éz"}`: `{"i":3,"many":["z","x"],"one":"a","text":"éz","yes":true}`,
		`{"one":"a","mail":"a@b.c","uri":"https://x","day":"2026-02-28","at":"2026-02-28T01:02:03Z","odd":"any"}`: `{"at":"2026-02-28T01:02:03Z","day":"2026-02-28","i":3,"mail":"a@b.c","odd":"any","one":"a","uri":"https://x","yes":true}`,

		``:                                 `field "one": it is required`,
		`{"one":""}`:                       `field "one": it is required`,
		`{"one":"c"}`:                      `field "one": "c" is none of its options: #1 "a", #2 "b c"`,
		`{"one":5}`:                        `field "one": it is a text`,
		`{"one":"a","two":1}`:              `field "two": the form has no such field`,
		`{"one":"a","text":"é"}`:           `field "text": it has at least 2 characters`,
		`{"one":"a","text":"ééééé"}`:       `field "text": it has at most 4 characters`,
		`{"one":"a","text":"1234"}`:        `field "text": it does not match "^[a-zé]+$"`,
		`{"one":"a","many":["w"]}`:         `field "many": "w" is none of its options: #1 "x", #2 "y", #3 "z"`,
		`{"one":"a","many":["x","x"]}`:     `field "many": "x" is chosen twice`,
		`{"one":"a","many":["x","y","z"]}`: `field "many": it has at most 2 options`,
		`{"one":"a","many":"x"}`:           `field "many": it is a list of options`,
		`{"one":"a","n":-1.6}`:             `field "n": it is at least -1.5`,
		`{"one":"a","n":2.1}`:              `field "n": it is at most 2`,
		`{"one":"a","n":"2"}`:              `field "n": it is a number`,
		`{"one":"a","i":1.5}`:              `field "i": it is a whole number`,
		`{"one":"a","i":9007199254740994}`: `field "i": it is a whole number`,
		`{"one":"a","yes":"true"}`:         `field "yes": it is true or false`,
		`{"one":"a","mail":"me"}`:          `field "mail": it is no email`,
		`{"one":"a","uri":"x"}`:            `field "uri": it is no uri`,
		`{"one":"a","day":"28.2."}`:        `field "day": it is no date`,
		`{"one":"a","at":"2026-02-28"}`:    `field "at": it is no date-time`,
		`[1]`:                              `the values are no JSON object`,
		`{"one":"` + strings.Repeat("x", maxValues) + `"}`: `the values are longer than 65536 bytes`,
	} {
		got, err := form().Fill([]byte(values))
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != want {
			t.Errorf("%.100s: %s, want %s", values, got, want)
		}
	}
	least := Question{Fields: []Field{{Name: "m", Type: FieldArray, Options: []Option{{Value: "a"}, {Value: "b"}}, MinItems: number(2)}}}
	if _, err := least.Fill([]byte(`{"m":["a"]}`)); err == nil || err.Error() != `field "m": it has at least 2 options` {
		t.Errorf("too few options: %v", err)
	}
	if got, err := (Question{}).Fill(nil); err != nil || string(got) != "{}" {
		t.Errorf("a form without fields: %s, %v", got, err)
	}
}

// TestValues: what a person types becomes values, by words or on one line.
func TestValues(t *testing.T) {
	for line, want := range map[string]string{
		"":      `{}`,
		"#2":    `{"one":"b c"}`,
		"alpha": `{"one":"a"}`,
		"one=b c many=x many=zed n=2 yes=No i= text=a b": `{"i":null,"many":["x","z"],"n":2,"one":"b c","text":"a b","yes":false}`,
		"one=a yes=On": `{"one":"a","yes":true}`,
		"one=a=b":      `{"one":"a=b"}`,
		"one=a one=b":  `field "one": it has two values`,
		"n=two":        `field "n": it is a number`,
		"n=NaN":        `field "n": it is a number`,
		"i=Inf":        `field "i": it is a number`,
		"yes=maybe":    `field "yes": it is yes or no`,
	} {
		q := form()
		got, err := q.Values(q.Words(line))
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
	if _, err := form().Values([]string{"colour=red"}); err == nil || !strings.HasSuffix(err.Error(), "one, text, many, n, i, yes, mail, uri, day, at, odd") {
		t.Errorf("an unknown field: %v", err)
	}
	var none Question
	if _, err := none.Values(none.Words("yes")); err == nil || !strings.Contains(err.Error(), "no fields") {
		t.Errorf("a form without fields: %v", err)
	}
	if got := (Question{Fields: form().Fields[:2]}).Example(); got != "one=#1 text=VALUE" {
		t.Errorf("the example is %q", got)
	}
}

// TestQuestionBounds: a form that a person could not see or answer is refused, and
// the texts of others are cleaned.
func TestQuestionBounds(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	for name, q := range map[string]Question{
		"message":      {Message: long},
		"fields":       {Fields: make([]Field, 33)},
		"no name":      {Fields: []Field{{Type: FieldString}}},
		"long name":    {Fields: []Field{{Name: long[:201], Type: FieldString}}},
		"bad name":     {Fields: []Field{{Name: "\xff", Type: FieldString}}},
		"type":         {Fields: []Field{{Name: "a", Type: "object"}}},
		"twice":        {Fields: []Field{{Name: "a", Type: FieldString}, {Name: "a", Type: FieldNumber}}},
		"options":      {Fields: []Field{{Name: "a", Type: FieldString, Options: make([]Option, 65)}}},
		"no options":   {Fields: []Field{{Name: "a", Type: FieldArray}}},
		"empty option": {Fields: []Field{{Name: "a", Type: FieldString, Options: []Option{{}}}}},
		"long option":  {Fields: []Field{{Name: "a", Type: FieldString, Options: []Option{{Value: long[:1001]}}}}},
		"same option":  {Fields: []Field{{Name: "a", Type: FieldString, Options: []Option{{Value: "x"}, {Value: "x"}}}}},
		"pattern":      {Fields: []Field{{Name: "a", Type: FieldString, Pattern: long[:501]}}},
	} {
		if _, err := q.Bounded(); err == nil {
			t.Errorf("%s: it is not refused", name)
		}
		if p, whole := (Permission{ID: "p", Kind: ActionQuestion, Question: &q}).Bounded(); whole || p.Question != nil || p.Kind != ActionQuestion {
			t.Errorf("%s: the request is %+v", name, p)
		}
	}
	q := Question{Message: "a\x1b[2J\nb", Fields: []Field{{Name: "a", Type: FieldString, Title: "t\nu" + long, Description: "d\u202e" + long, Default: json.RawMessage(`5`), Options: []Option{{Value: "\u202e", Title: "x\ny", Description: "\x1b[1mz"}}}}}
	p, whole := (Permission{ID: "p", Kind: "read", Title: "t", Command: "rm", Paths: []string{"x"}, Always: true, Question: &q}).Bounded()
	f := p.Question.Fields[0]
	if !whole || p.Question.Message != "a\nb" || len(f.Title) > 500 || !strings.HasPrefix(f.Title, "t u") || len(f.Description) > 2_100 || strings.Contains(f.Description, "\u202e") || f.Default != nil ||
		!reflect.DeepEqual(f.Options[0], Option{Value: "\u202e", Title: "x y", Description: "z"}) {
		t.Errorf("bounded is %+v", f)
	}
	if p.Kind != ActionQuestion || p.Command != "" || p.Paths != nil || p.Always {
		t.Errorf("the request is %+v", p)
	}
	if p, _ := (Permission{Kind: ActionQuestion}).Bounded(); p.Kind != ActionOther {
		t.Errorf("a question without a form is of the kind %s", p.Kind)
	}
	if err := (AllowRule{Kind: ActionQuestion}).Check(); err == nil {
		t.Error("a rule answers questions")
	}
}

// FuzzFill checks that values which fit a form fit it again and stay the same, and
// that a bounded form stays the same.
func FuzzFill(f *testing.F) {
	b, _ := json.Marshal(form())
	f.Add(b, []byte(`{"one":"a","many":["x"],"n":1,"text":"ab"}`))
	f.Add([]byte(`{"fields":[{"name":"a","type":"string","pattern":"(","default":"x"}]}`), []byte(`{"a":"\ud800"}`))
	f.Fuzz(func(t *testing.T, schema, values []byte) {
		var q Question
		if json.Unmarshal(schema, &q) != nil {
			return
		}
		q, err := q.Bounded()
		if err != nil {
			return
		}
		if again, err := q.Bounded(); err != nil || !reflect.DeepEqual(again, q) {
			t.Errorf("%+v became %+v, %v", q, again, err)
		}
		filled, err := q.Fill(values)
		if err != nil {
			return
		}
		for i := range q.Fields {
			q.Fields[i].Default = nil
		}
		if again, err := q.Fill(filled); err != nil || !bytes.Equal(again, filled) {
			t.Errorf("%s became %s, %v", filled, again, err)
		}
	})
}
