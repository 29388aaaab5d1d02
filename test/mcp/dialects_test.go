package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/folkmoot/moot/test/agents/model"
)

// A dialect is how an agent tells its model of tools: the path of the request, and one
// tool in its body.
type dialect struct {
	name, path string
	tool       func(name, description string, schema map[string]any) any
}

func function(name, description string, schema map[string]any) map[string]any {
	return map[string]any{"type": "function", "name": name, "description": description, "parameters": schema}
}

var dialects = []dialect{
	{"chat", "/v1/chat/completions", func(name, description string, schema map[string]any) any {
		f := function(name, description, schema)
		delete(f, "type")
		return map[string]any{"type": "function", "function": f}
	}},
	{"responses", "/v1/responses", func(name, description string, schema map[string]any) any {
		f := function(name, description, schema)
		f["strict"] = false
		return f
	}},
	{"messages", "/v1/messages", func(name, description string, schema map[string]any) any {
		return map[string]any{"name": name, "description": description, "input_schema": schema}
	}},
	{"gemini", "/v1beta/models/m:generateContent", func(name, description string, schema map[string]any) any {
		return declaration(map[string]any{"name": name, "description": description, "parametersJsonSchema": schema})
	}},
	{"gemini OpenAPI", "/v1beta/models/m:generateContent", func(name, description string, schema map[string]any) any {
		f := map[string]any{"name": name, "description": description}
		if properties, _ := schema["properties"].(map[string]any); len(properties) > 0 {
			f["parameters"] = open(schema)
		}
		return declaration(f)
	}},
	{"ollama", "/api/chat", func(name, description string, schema map[string]any) any {
		return map[string]any{"type": "function", "function": function(name, description, schema)}
	}},
}

func declaration(f map[string]any) any { return map[string]any{"functionDeclarations": []any{f}} }

// open returns a schema without the key additionalProperties, which the older form of the
// Gemini API does not know, and all its clients remove.
func open(schema map[string]any) map[string]any {
	out := map[string]any{}
	for key, v := range schema {
		inner, isObject := v.(map[string]any)
		switch {
		case key == "additionalProperties":
			continue
		case isObject:
			v = open(inner)
		}
		out[key] = v
	}
	return out
}

// TestDialects gives every tool to the fake model in each of its dialects, which refuses
// the schemas that the vendors refuse.
func TestDialects(t *testing.T) {
	llm := httptest.NewServer(model.New(model.Config{}))
	defer llm.Close()
	x := hostOf(t, teamRoom)
	list, err := x.connect(t, "http", "2026-07-28", x.token(t, "dba")).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		for _, d := range dialects {
			ask(t, llm.URL+d.path, d, tool)
		}
	}
	if !slices.Equal(names, allTools) {
		t.Errorf("a worker that holds its seat has the tools %v, want %v", names, allTools)
	}
}

// ask sends a request with a tool, which must have an answer.
func ask(t *testing.T, url string, d dialect, tool *sdk.Tool) {
	t.Helper()
	schema, _ := tool.InputSchema.(map[string]any)
	body, err := json.Marshal(map[string]any{
		"model": "m", "stream": false, "input": "hello", "messages": []any{map[string]any{"role": "user", "content": "hello"}},
		"contents": []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": "hello"}}}},
		"tools":    []any{d.tool(tool.Name, tool.Description, schema)},
	})
	if err != nil || len(schema) == 0 {
		t.Fatal(err, tool.InputSchema)
	}
	resp, err := http.Post(url, "application/json", bytes.NewReader(body)) //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%s, %s: %s %s %v", d.name, tool.Name, resp.Status, answer, err)
	}
}
