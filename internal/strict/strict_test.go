package strict_test

import (
	"encoding/json"
	"strings"
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

// TestErrors checks that errors name the key, and no types of Go.
func TestErrors(t *testing.T) {
	type turn struct {
		I    int      `json:"i"`
		Text string   `json:"text"`
		At   *float64 `json:"at"`
	}
	type talk struct {
		ID    string          `json:"id"`
		Turns []turn          `json:"turns"`
		Extra json.RawMessage `json:"extra"`
	}
	for text, want := range map[string]string{
		``:                                "unexpected end of JSON",
		`{"id":`:                          "unexpected end of JSON",
		`{"id":"a"}]`:                     "after top-level value",
		`{"id":tru}`:                      "at byte 9",
		"{\"id\":\"\xff\"}":               "invalid UTF-8",
		`{"ID":1}`:                        `unknown key "ID"`,
		`{"extra":{"x":1,"\u0078":2}}`:    `duplicate key "x"`,
		`{"extra":[[[[]]]]}`:              "nests deeper than 4",
		`{"id":1}`:                        `"id" may not be a number`,
		`[]`:                              "the value may not be an array",
		`{"turns":[{"i":0},{"text":{}}]}`: `"turns[1].text" may not be an object`,
		`{"turns":[{"at":1e400}]}`:        `"turns[0].at" may not be the number 1e400`,
		`{"turns":[{"i":1.5}]}`:           `"turns[0].i" may not be the number 1.5`,
		`{"turns":true}`:                  `"turns" may not be true or false`,
	} {
		var v talk
		if err := strict.Decode([]byte(text), 4, &v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	known := []string{"/type", "/usage", "/usage/tokens"}
	for text, want := range map[string]string{
		`{"type":"x","new":{"Type":1},"usage":{"tokens":1}} `: "",
		`{"a":[{"usage":{"Tokens":1}}]}`:                      "",
		`[{"Type":1}]`:                                        "",
		`"Type"`:                                              "",
		`{"Type":"x"}`:                                        `key "Type" must be written "type"`,
		`{"usage":{"tokenS":1}}`:                              `key "tokenS" must be written "tokens"`,
		`{"new":{"a":1,"a":2}}`:                               `duplicate key "a"`,
		`{"new":[[[[]]]]}`:                                    "nests deeper than 4",
		`{"type":"x"}{}`:                                      "after top-level value",
		`{"type":"x"`:                                         "unexpected end of JSON",
	} {
		err := strict.Check([]byte(text), 4, known)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// FuzzDecode checks that accepted bytes are JSON for Check and encoding/json
// too, and that encoding and decoding them again succeeds.
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
		if err := strict.Check(b, 8, nil); err != nil {
			t.Fatalf("%q is decoded, but Check says %v", b, err)
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
