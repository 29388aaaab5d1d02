package strict_test

import (
	"encoding/json"
	"testing"

	"github.com/folkmoot/moot/internal/strict"
)

func TestStrict(t *testing.T) {
	type inner struct {
		N int `json:"n"`
	}
	type outer struct {
		A    string           `json:"a"`
		In   *inner           `json:"in"`
		List []inner          `json:"list"`
		Map  map[string]inner `json:"map"`
		Raw  json.RawMessage  `json:"raw"`
	}
	for text, good := range map[string]bool{
		`{"a":"x","in":{"n":1},"list":[{"n":2}],"map":{"Any":{"n":3}},"raw":{"N":[1,{"x":2}]}}`: true,
		`{"in":{"N":1}}`:           false,
		`{"list":[{"m":1}]}`:       false,
		`{"map":{"x":{"m":1}}}`:    false,
		`{"map":{"x":{},"x":{}}}`:  false,
		`{"raw":{"x":1,"x":2}}`:    false,
		`{"raw":[[[[[[[1]]]]]]]}`:  false,
		`{"a":"\ud800"}`:           true,
		"{\"a\":\"\xff\"}":         false,
		`{"a":1}`:                  false,
		`{"a":"x"}x`:               false,
		`{"a":"x"`:                 false,
		``:                         false,
		`{"a":"x",}`:               false,
		`{"in":[1]}`:               false,
		`{"a":"[[[[[[[[[[[[[[[["}`: true,
	} {
		var v outer
		if err := strict.Decode([]byte(text), 6, &v); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What is accepted is what encoding/json would read from the same bytes, and
// writing and reading it again changes nothing.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"a":"x","list":[{"n":2}],"raw":{"k":[1,{"x":2}]}}`))
	f.Add([]byte(`{"map":{"x":{"n":1e3}}}`))
	f.Add([]byte("{\"a\":\"\\ud800\"} "))
	type inner struct {
		N float64 `json:"n"`
	}
	type outer struct {
		A    string           `json:"a"`
		List []inner          `json:"list"`
		Map  map[string]inner `json:"map"`
		Raw  json.RawMessage  `json:"raw,omitempty"`
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var v outer
		if err := strict.Decode(b, 8, &v); err != nil {
			return
		}
		if !json.Valid(b) {
			t.Fatalf("%q is accepted and not JSON", b)
		}
		again, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var second outer
		if err := strict.Decode(again, 8, &second); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
	})
}
