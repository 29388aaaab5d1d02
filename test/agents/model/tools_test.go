package model

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestSchemas checks which schemas of tools each dialect refuses, as the vendor's API
// does.
func TestSchemas(t *testing.T) {
	s := New(Config{})
	forms := map[string][2]string{ // the path, and a tool with a name and a schema
		"chat":      {"/v1/chat/completions", `{"type":"function","function":{"name":%q,"parameters":%s}}`},
		"responses": {"/v1/responses", `{"type":"namespace","name":"ns","tools":[{"type":"function","name":%q,"parameters":%s}]}`},
		"messages":  {"/v1/messages", `{"name":%q,"input_schema":%s}`},
		"gemini":    {"/v1beta/models/m:generateContent", `{"functionDeclarations":[{"name":%q,"parameters":%s}]}`},
		"json":      {"/v1beta/models/m:generateContent", `{"functionDeclarations":[{"name":%q,"parametersJsonSchema":%s}]}`},
		"ollama":    {"/api/chat", `{"type":"function","function":{"name":%q,"parameters":%s}}`},
	}
	for _, c := range []struct{ name, schema, refused string }{
		{"ok", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"integer"}}},"required":["a"]}`, ""},
		{"free", `{"type":"object","properties":{"a":{"type":"object"}}}`, ""},
		{"no name", `{"type":"object","properties":{"a":{"type":"string"}}}`, "chat gemini json messages ollama responses"},
		{"text", `"x"`, "chat gemini json messages ollama responses"},
		{"notype", `{"properties":{}}`, "chat gemini json messages ollama responses"},
		{"unknown", `{"type":"object","properties":{"a":{"type":"text"}}}`, "chat gemini json messages ollama responses"},
		{"none", `{"type":"object"}`, "chat responses"},
		{"empty", `{"type":"object","properties":{}}`, "gemini"},
		{"closed", `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`, "gemini"},
		{"nullable", `{"type":"object","properties":{"a":{"type":["null","string"]}}}`, "gemini ollama"},
		{"items", `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"array"}}}}}`, "chat gemini responses"},
		{"union", `{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]}]}`, "chat gemini messages responses"},
		{"inner", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, ""},
		{"deep", `{"type":"object","properties":{"a":{"anyOf":[{"type":["string","null"]}]}}}`, "gemini ollama"},
		{"key", `{"type":"object","properties":{"a b":{"type":"string"}}}`, "messages"},
		{"required", `{"type":"object","properties":{"a":{"type":"string"}},"required":["b"]}`, "gemini"},
		{"bool", `{"type":"object","properties":{"a":true}}`, "chat gemini json messages ollama responses"},
		{"list", `{"type":"object","properties":[]}`, "chat gemini json messages ollama responses"},
	} {
		var refused []string
		for form, f := range forms {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest("POST", f[0], strings.NewReader(`{"stream":false,"input":"x","tools":[`+fmt.Sprintf(f[1], c.name, c.schema)+`]}`)))
			if w.Code != http.StatusOK {
				refused = append(refused, form)
			}
		}
		slices.Sort(refused)
		if got := strings.Join(refused, " "); got != c.refused {
			t.Errorf("%s %s: refused by %s, want %s", c.name, c.schema, got, c.refused)
		}
	}
}
