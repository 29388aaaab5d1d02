package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// key is a secret that no error, answer or log may have.
const key = "sk-test-0123456789abcdef"

// A call is what a server got.
type call struct {
	Model    string
	Stream   bool
	Messages []struct{ Role, Content string }
	Options  struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
	MaxTokens           int     `json:"max_tokens"`
	MaxCompletionTokens int     `json:"max_completion_tokens"`
	Temperature         float64 `json:"temperature"`

	auth string
}

// A server answers model calls with a function, and lists one model.
type server struct {
	*httptest.Server
	answer func(w http.ResponseWriter, r *http.Request, c call)

	mu    sync.Mutex
	calls []call
}

func serve(t *testing.T, answer func(http.ResponseWriter, *http.Request, call)) *server {
	t.Helper()
	s := &server{answer: answer}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP answers as an OpenAI-compatible server does.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/v1/models":
		fmt.Fprint(w, `{"object":"list","data":[{"id":"m"},{"id":"llama3.2:latest"}]}`)
	case "/v1/chat/completions":
		c := call{auth: r.Header.Get("Authorization")}
		if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		s.calls = append(s.calls, c)
		s.mu.Unlock()
		s.answer(w, r, c)
	default:
		http.NotFound(w, r)
	}
}

// asked returns the calls so far.
func (s *server) asked() []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// open returns an endpoint for the model m of a server.
func (s *server) open(t *testing.T) *openai.Endpoint {
	t.Helper()
	e := openai.New(openai.Config{BaseURL: s.URL + "/v1", Model: "m", APIKey: key})
	t.Cleanup(func() { e.Close() })
	return e
}

// stream writes events, each of which is the data of one.
func stream(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.(http.Flusher).Flush()
	for _, e := range events {
		fmt.Fprintf(w, "data: %s\n\n", e)
		w.(http.Flusher).Flush()
	}
}

// delta is an event with a part of the answer.
func delta(text string) string {
	return fmt.Sprintf(`{"choices":[{"delta":{"content":%s}}]}`, quoted(text))
}

func quoted(text string) []byte {
	b, _ := json.Marshal(text) // a string is always JSON
	return b
}

// Ends of an answer.
const (
	stop = `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	done = "[DONE]"
)

func finish(reason string) string {
	return `{"choices":[{"delta":{},"finish_reason":"` + reason + `"}]}`
}

// say answers with a text in two parts.
func say(w http.ResponseWriter, text string) {
	stream(w, delta(text[:len(text)/2]), delta(text[len(text)/2:]), stop, done)
}

// prompt returns a rendered prompt with a text of another participant.
func prompt(text string) endpoint.Prompt {
	me := endpoint.Seat{ID: "me", Kind: "local", SameOwner: true}
	return endpoint.Rendered(endpoint.Prompt{
		Kind: endpoint.Turn, Request: "req_1", You: me, Seats: []endpoint.Seat{me, {ID: "you"}}, Boundary: "0123456789abcdef",
		Objective: "Test.", CatchUp: []endpoint.Line{{Seq: 1, From: "you", Text: text}}, MaxOutputChars: 1000, Timeout: time.Minute,
		Instructions: "Be brief.",
	})
}

// A floor records what it gets.
type floor struct {
	mu     sync.Mutex
	shown  strings.Builder
	raised []endpoint.Signal
}

// Raise records s.
func (f *floor) Raise(_ context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.raised = append(f.raised, s)
	return endpoint.Answer{Allowed: true}, nil
}

func (f *floor) Show(delta string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shown.WriteString(delta)
}

func (*floor) ShowTool(endpoint.ToolCall) {}

func hang(_ http.ResponseWriter, r *http.Request, _ call) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}
