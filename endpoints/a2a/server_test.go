package a2a_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/a2a"
	"github.com/folkmoot/moot/endpoints/endpoint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// token is a secret that no error, answer or log may have.
const token = "a2a-test-0123456789abcdef"

// A call is what a server got.
type call struct {
	ID     string
	Method string
	Params struct {
		ID            string // of a task
		Configuration struct{ HistoryLength *int }
		Message       struct {
			MessageID, ContextID, TaskID, Role string
			Parts                              []struct{ Text string }
		}
	}

	auth, version string
}

// A server is an A2A agent whose answers a function gives.
type server struct {
	*httptest.Server
	streams bool
	card    string // "" is that of this server
	answer  func(w *writer, c call)

	mu    sync.Mutex
	calls []call
	news  chan struct{} // closed and replaced at each call
}

func serve(t *testing.T, streams bool, answer func(*writer, call)) *server {
	t.Helper()
	s := &server{streams: streams, answer: answer, news: make(chan struct{})}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP answers as the JSON-RPC binding of A2A 1.0 does.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/.well-known/agent-card.json" && r.Header.Get("A2A-Version") == "1.0" {
		card := s.card
		if card == "" {
			card = cardOf(s.URL+"/rpc", s.streams)
		}
		fmt.Fprint(w, card)
		return
	}
	c := call{auth: r.Header.Get("Authorization"), version: r.Header.Get("A2A-Version")}
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil || r.URL.Path != "/rpc" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.calls = append(s.calls, c)
	close(s.news)
	s.news = make(chan struct{})
	s.mu.Unlock()
	s.answer(&writer{ResponseWriter: w, request: r, id: c.ID, streams: c.Method == "SendStreamingMessage"}, c)
}

// asked returns the calls of a method so far.
func (s *server) asked(method string) (all []call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.Method == method {
			all = append(all, c)
		}
	}
	return all
}

// wait returns the first call of a method.
func (s *server) wait(t *testing.T, method string) call {
	t.Helper()
	deadline := time.NewTimer(2 * time.Minute) // what is awaited never comes
	defer deadline.Stop()
	for {
		s.mu.Lock()
		news := s.news
		s.mu.Unlock()
		if all := s.asked(method); len(all) > 0 {
			return all[0]
		}
		select {
		case <-news:
		case <-deadline.C:
			t.Fatalf("no call of %s", method)
		}
	}
}

// open returns an endpoint for the agent of a server.
func (s *server) open(t *testing.T) *a2a.Endpoint {
	t.Helper()
	e := a2a.New(a2a.Config{URL: s.URL + "/", Token: token})
	t.Cleanup(func() { e.Close() })
	return e
}

// cardOf returns the agent card of an agent with one interface.
func cardOf(url string, streams bool) string {
	return fmt.Sprintf(`{"name":"x","version":"1","supportedInterfaces":[{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":%t},"skills":[]}`, url, streams)
}

// A writer writes the results of one call.
type writer struct {
	http.ResponseWriter
	request *http.Request
	id      string
	streams bool
}

// results writes results, each of which is JSON: as events, or the last one alone.
func (w *writer) results(all ...string) {
	if !w.streams {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%q,"result":%s}`, w.id, all[len(all)-1])
		return
	}
	w.begin()
	for _, r := range all {
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%q,\"result\":%s}\n\n", w.id, r)
		w.flush()
	}
}

// fails writes a JSON-RPC error.
func (w *writer) fails(code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%q,"error":{"code":%d,"message":%s}}`, w.id, code, quoted(message))
}

// begin begins a stream.
func (w *writer) begin() {
	w.Header().Set("Content-Type", "text/event-stream")
	w.flush()
}

func (w *writer) flush() { w.ResponseWriter.(http.Flusher).Flush() }

func (w *writer) hang() { <-w.request.Context().Done() }

// endless writes a text until the client leaves.
func (w *writer) endless(text string) {
	block := []byte(strings.Repeat(text, 1+1000/len(text)))
	for {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

func quoted(text string) []byte {
	b, _ := json.Marshal(text) // a string is always JSON
	return b
}

// message is a result.
func message(text string) string {
	return fmt.Sprintf(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":%s}]}}`, quoted(text))
}

// bare returns a task without the member that names it.
func bare(state, text, artifact string) string {
	return fmt.Sprintf(`{"id":"t1","contextId":"c","status":%s,"artifacts":[{"artifactId":"a","parts":[{"text":%s}]}]}`, status(state, text), quoted(artifact))
}

// task is a result with the text of its status and of an artifact.
func task(state, text, artifact string) string {
	return `{"task":` + bare(state, text, artifact) + `}`
}

// update is a change of the status of a task.
func update(state, text string) string {
	return fmt.Sprintf(`{"statusUpdate":{"taskId":"t1","contextId":"c","status":%s}}`, status(state, text))
}

func status(state, text string) string {
	if text == "" {
		return `{"state":"TASK_STATE_` + state + `"}`
	}
	return fmt.Sprintf(`{"state":"TASK_STATE_%s","message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":%s}]}}`, state, quoted(text))
}

// chunk is a part of the artifact id.
func chunk(id, text string, more bool) string {
	return fmt.Sprintf(`{"artifactUpdate":{"taskId":"t1","contextId":"c","append":%t,"artifact":{"artifactId":%q,"parts":[{"text":%s}]}}}`, more, id, quoted(text))
}

// prompt returns a rendered prompt with a text of another participant.
func prompt(text string) endpoint.Prompt {
	me := endpoint.Seat{ID: "me", Kind: "local", SameOwner: true}
	return endpoint.Rendered(endpoint.Prompt{
		Kind: endpoint.Turn, Request: "req_1", Room: "r_1", You: me, Seats: []endpoint.Seat{me, {ID: "you"}}, Boundary: "0123456789abcdef",
		Objective: "Test.", CatchUp: []endpoint.Line{{Seq: 1, From: "you", Text: text}}, MaxOutputChars: 1000, Timeout: 10 * time.Minute, // what has no end takes long under the race detector
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
