package templates_test

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"os"
	"regexp"
	"testing"

	"github.com/folkmoot/moot/plugins"
)

// withUnknown adds an unknown member to every object of a JSON value.
func withUnknown(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = withUnknown(v[i])
		}
	case map[string]any:
		for k := range v {
			if k != "state" && k != "config" {
				v[k] = withUnknown(v[k])
			}
		}
		v["agent"] = map[string]any{"id": "x", "deep": []any{[]any{map[string]any{"y": nil}, "]}"}, -1.5e-7, true}}
	}
	return v
}

// keyLine matches the name of a member, which begins a line, and the colon.
var keyLine = regexp.MustCompile(`(?m)^(\s*"(?:[^"\\]|\\.)*"): `)

// rewritten returns an input as another host might write it: its members in
// byte order, with spaces, and with unknown members.
func rewritten(t *testing.T, input []byte) []byte {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(input))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("\t", " ")
	if err := e.Encode(withUnknown(v)); err != nil {
		t.Fatal(err)
	}
	return keyLine.ReplaceAll(b.Bytes(), []byte("$1 :\r\n"))
}

// load returns the prebuilt modules of the templates in a folder, by language.
func load(t *testing.T, folder string, langs ...string) map[string]*plugins.Policy {
	t.Helper()
	host, err := plugins.NewHost(plugins.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close() })
	all := map[string]*plugins.Policy{}
	for _, lang := range langs {
		wasm, err := os.ReadFile("../policytest/testdata/" + folder + "/" + lang + ".wasm")
		if err != nil {
			t.Fatal(err)
		}
		if all[lang], err = host.Load(t.Context(), plugins.Module{Name: "polite", Wasm: wasm, Trusted: true}); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestAnyOrder: the order of members, spaces and unknown members do not change
// the answer.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	for lang, p := range load(t, "guests", "c", "rust", "assemblyscript") {
		r := rand.New(rand.NewSource(2))
		for range 100 {
			in := oddInput(r)
			input := in.AppendJSON(nil)
			want, err := p.Run(t.Context(), input)
			if err != nil {
				t.Fatalf("%s: %v\n%s", lang, err, input)
			}
			other := rewritten(t, input)
			if got, err := p.Run(t.Context(), other); err != nil || string(got.Output) != string(want.Output) {
				t.Fatalf("%s: %v\n%s\n%s\nin place of\n%s\n%s", lang, err, other, got.Output, want.Output, input)
			}
		}
	}
}

// TestInvalidInput: an invalid input gets no answer.
func TestInvalidInput(t *testing.T) {
	t.Parallel()
	for lang, p := range load(t, "guests", "c", "rust", "assemblyscript") {
		for _, input := range []string{
			``, ` `, `{`, `[]`, `{"agents":[`, `{"agents":[{]}`, `{"agents":[{}}`, `{"agents":[{"id":"a}]}`, `{"agents":[{"id":1}]}`, `{"agents":{}}`,
			`{"agents":[{"id":"a"}{"id":"b"}]}`, `{"agents":[{"id":"a"},]}`, `{"agents":[{"id":"a",}]}`, `{"agents":[{"id" "a"}]}`, `{"agents":[{"id":"a" "name":"b"}]}`,
			`{"events":[{"text":"\"}]}`, `{"x":}`, `{"x":,"turn":1}`, `{"turn":1`, `{"turn":"1"}`,
		} {
			if res, err := p.Run(t.Context(), []byte(input)); err == nil {
				t.Errorf("%s answered %s to %s", lang, res.Output, input)
			}
		}
	}
}
