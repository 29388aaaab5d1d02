package preset

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/problem"
)

func TestOllamaURL(t *testing.T) {
	for host, want := range map[string]string{
		"":                         "http://localhost:11434",
		"0.0.0.0":                  "http://localhost:11434",
		"0.0.0.0:8080":             "http://localhost:8080",
		"[::]:8080":                "http://localhost:8080",
		"gpu.example.org":          "http://gpu.example.org:11434",
		"http://10.0.0.7:80/":      "http://10.0.0.7:80",
		"https://gpu.example.org/": "https://gpu.example.org:443",
		"http://gpu.example.org":   "http://gpu.example.org:80",
		"http://%zz":               "http://localhost:11434",
		":8080":                    "http://localhost:8080",
	} {
		t.Setenv("OLLAMA_HOST", host)
		if got := OllamaURL(); got != want {
			t.Errorf("OLLAMA_HOST=%q: %s, want %s", host, got, want)
		}
	}
}

// TestOllamaModels: each answer of a server is a list of models or a problem with
// what to do.
func TestOllamaModels(t *testing.T) {
	for answer, want := range map[string][]string{
		`{"models":[{"name":"all-embed:1"},{"name":"a:1"},{"name":"b:2"}]}`: {"a:1", "b:2"},
		`{"models":[]}`:                   nil,
		`{"models":[{"name":"e-embed"}]}`: nil,
		`<html>`:                          nil,
		`{"models":[` + strings.Repeat(`{"name":""},`, 1<<19) + `{"name":"late"}]}`: nil, // past the limit
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }))
		got, err := OllamaModels(t.Context(), server.URL)
		server.Close()
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%.60s: %q and %v", answer, got, err)
		}
		if p, ok := errors.AsType[*problem.Error](err); err != nil && (!ok || p.Fix == "") {
			t.Errorf("%.60s: no fix in %v", answer, err)
		}
	}
	if _, err := OllamaModels(t.Context(), "http://127.0.0.1:1"); err == nil {
		t.Error("no server has models")
	}
}

func FuzzChatModels(f *testing.F) {
	f.Add(`{"models":[{"name":"a:1"}]}`)
	f.Add(`{"models":null}`)
	f.Fuzz(func(t *testing.T, answer string) {
		names, err := chatModels("http://localhost", strings.NewReader(answer))
		if (err == nil) != (len(names) > 0) || slices.Contains(names, "") {
			t.Errorf("%q and %v", names, err)
		}
	})
}

// TestPresets: each preset says how to get it.
func TestPresets(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("OLLAMA_HOST", "127.0.0.1:1")
	t.Setenv("OPENAI_API_KEY", "")
	for _, name := range Names() {
		p, ok := Lookup(name)
		_, err := p.Find(t.Context())
		problem, coded := errors.AsType[*problem.Error](err)
		if !ok || p.Title == "" || !coded || !strings.HasPrefix(problem.What, name+": ") || problem.Fix == "" {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	if _, ok := Lookup("nothing"); ok {
		t.Error("an unknown name has a preset")
	}
}
