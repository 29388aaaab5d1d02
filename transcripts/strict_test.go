package transcripts

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDecodeStrict(t *testing.T) {
	inner := shape{"a": nil, "b": {"c": nil}}
	for in, want := range map[string]string{
		`{}`:                               "",
		` { "a" : [ ] , "b" : { } } `:      "",
		`{"a":[1,{"x":-1.5e3},[[]],null]}`: "",
		`{"a":"}\"{\\"}`:                   "",
		`{"b":[{"c":1},{"c":2}]}`:          "",
		`{"a":true,"b":{"c":false}}`:       "",
		`{"\u0061":1}`:                     "",
		`{"a":1,"\u0061":2}`:               `repeats the key "a"`,
		`{"a":{"x":1,"y":{"x":1},"x":2}}`:  `repeats the key "x"`,
		`{"b":{"d":1}}`:                    `unknown key "d"`,
		`{"b":[{"c":1},{"C":2}]}`:          `unknown key "C"`,
		`{"A":1}`:                          `unknown key "A"`,
		`{"a":"` + "\xff" + `"}`:           "invalid UTF-8",
		`{"a":1}x`:                         "after top-level value",
		`{"a":`:                            "unexpected end",
		`{"a":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`: "nests deeper",
	} {
		var v any
		err := decodeStrict([]byte(in), inner, &v)
		if got := ""; err != nil {
			got = err.Error()
			if want == "" || !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", in, got, want)
			}
		} else if want != "" {
			t.Errorf("%s: no error, want %q", in, want)
		}
	}
}

// FuzzDecodeStrict: whatever is valid JSON is walked to its end.
func FuzzDecodeStrict(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"\"}"}],"c":null,"d":-1e5}`))
	f.Add([]byte(` [ ] `))
	f.Add([]byte(`"x"`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := checker{b: b}
		if !json.Valid(b) || c.value(nil, 0) != nil {
			return
		}
		if rest := strings.TrimLeft(string(b[c.i:]), " \t\r\n"); rest != "" {
			t.Errorf("%q is left of %q", rest, b)
		}
	})
}
