package openai_test

import (
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpointtest"
	"github.com/folkmoot/moot/endpoints/openai"
)

// TestConformance runs the suite of all endpoints. A model server is no process,
// cannot bid or send messages, and answers no request but the one of its connection:
// those cases are skipped.
func TestConformance(t *testing.T) {
	endpointtest.Run(t, open)
}

// TestDocumentedAbilities compares docs/agents.md with the suite.
func TestDocumentedAbilities(t *testing.T) {
	endpointtest.Documented(t, "../../docs/agents.md", "openai", open)
}

func open(t *testing.T, s endpointtest.Scenario) endpointtest.Endpoint {
	if s == endpointtest.Deaf {
		return openai.New(openai.Config{BaseURL: deaf(t), Model: "m"})
	}
	behave := behaviour(s)
	if behave == nil || strings.HasSuffix(t.Name(), "/hangs") { // that case expects the end of a process
		return nil
	}
	var calls atomic.Int64
	return serve(t, func(w http.ResponseWriter, r *http.Request, c call) { behave(w, r, c, calls.Add(1) == 1) }).open(t)
}

// behaviour returns what a server does in a scenario, nil for one that it cannot
// have.
func behaviour(s endpointtest.Scenario) func(w http.ResponseWriter, r *http.Request, c call, first bool) {
	broken := func(do func(http.ResponseWriter)) func(http.ResponseWriter, *http.Request, call, bool) {
		return func(w http.ResponseWriter, _ *http.Request, c call, first bool) {
			if first {
				do(w)
				return
			}
			echo(w, c)
		}
	}
	switch s {
	case endpointtest.Echo:
		return func(w http.ResponseWriter, _ *http.Request, c call, _ bool) { echo(w, c) }
	case endpointtest.Refuses:
		return broken(func(w http.ResponseWriter) { stream(w, `{"choices":[{"delta":{"refusal":"not mine"}}]}`, stop, done) })
	case endpointtest.Errors:
		return broken(func(w http.ResponseWriter) {
			http.Error(w, `{"error":{"message":"out of order","type":"api_error"}}`, http.StatusBadRequest)
		})
	case endpointtest.Hang, endpointtest.Stubborn:
		return func(w http.ResponseWriter, r *http.Request, c call, _ bool) {
			stream(w, delta("working"))
			hang(w, r, c)
		}
	case endpointtest.Noisy:
		return func(w http.ResponseWriter, _ *http.Request, c call, _ bool) {
			stream(w)
			_, _ = w.Write([]byte(": a comment\r\n\r\nevent: chunk\r\nid: 5\n\n\n"))
			echo(w, c)
		}
	case endpointtest.Flooding:
		return broken(func(w http.ResponseWriter) { stream(w); _, _ = w.Write([]byte(strings.Repeat("noise\n", 1000))) })
	case endpointtest.Torn:
		return broken(func(w http.ResponseWriter) { stream(w, `{"choices":[{"del`) })
	case endpointtest.Oversize:
		return broken(func(w http.ResponseWriter) { say(w, strings.Repeat("x", 1001)) })
	case endpointtest.Overlong:
		return broken(func(w http.ResponseWriter) { say(w, strings.Repeat("x", 3<<20)) })
	case endpointtest.Negative:
		return broken(func(w http.ResponseWriter) {
			stream(w, delta("x"), stop, `{"choices":[],"usage":{"prompt_tokens":-1,"completion_tokens":3}}`, done)
		})
	}
	return nil
}

// echo answers with what the suite expects, and keeps to the limits of its prompts.
func echo(w http.ResponseWriter, c call) {
	text := endpointtest.Answer(endpointtest.Newest(c.Messages[1].Content))
	say(w, text[:min(len(text), 1000)])
}

// deaf returns the URL of a server that accepts connections and never reads.
func deaf(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return "http://" + l.Addr().String()
}
