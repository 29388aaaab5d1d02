package ndjson_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/check"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/ndjson"
	"github.com/folkmoot/moot/problem"
)

// newAdapter returns an endpoint for the adapter in examples/acp-adapter, with an
// agent that follows the text of the prompt.
func newAdapter(t *testing.T, restart int) *ndjson.Endpoint {
	t.Helper()
	need(t, "python3")
	agent, err := filepath.Abs("testdata/agents/acp_agent.py")
	if err != nil {
		t.Fatal(err)
	}
	e := ndjson.New(ndjson.Config{Command: []string{"python3", "-B", "./acp.py", "python3", "-B", agent}, Dir: "../../examples/acp-adapter", Restart: restart, AwaitReady: true, Grace: hangGuard, Close: hangGuard})
	t.Cleanup(func() { e.Close() })
	return e
}

// adapterPrompt returns a prompt whose newest message is text.
func adapterPrompt(text string) endpoint.Prompt {
	return endpoint.Rendered(endpoint.Prompt{
		Kind: endpoint.Turn, Request: "req_" + rand.Text(), Turn: 7, You: endpoint.Seat{ID: "agent"}, Objective: "Try it.",
		CatchUp: []endpoint.Line{{From: "you", Text: text}}, MaxOutputChars: 100, Timeout: time.Minute,
	})
}

// TestAdapterSaysReady checks that the adapter says when its agent has started.
func TestAdapterSaysReady(t *testing.T) {
	t.Parallel()
	if err := newAdapter(t, 0).Start(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// TestAdapter checks that each behaviour of an ACP agent becomes one answer.
func TestAdapter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		outcome, text, reason string
		err                   error
	}{
		"hello\nthere":             {outcome: endpoint.Said, text: "hello\nthere"},
		"PASS":                     {outcome: endpoint.Passed},
		"refuse":                   {outcome: endpoint.Refused, reason: "I will not."},
		"permission":               {outcome: endpoint.Said, text: `{"outcome": {"outcome": "selected", "optionId": "n"}}`},
		"no way to refuse":         {outcome: endpoint.Said, text: `{"outcome": {"outcome": "cancelled"}}`},
		"file":                     {outcome: endpoint.Said, text: `{"code": -32601, "message": "no such method here"}`},
		"surrogate":                {outcome: endpoint.Said, text: "?!"},
		"fail":                     {err: endpoint.ErrAgent, reason: "the model is away"},
		"silence":                  {err: endpoint.ErrAgent, reason: "said nothing"},
		"exit":                     {err: endpoint.ErrExited, reason: "out of memory"},
		strings.Repeat("long", 40): {outcome: endpoint.Said, text: strings.Repeat("long", 25)},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			r, err := newAdapter(t, 0).Speak(t.Context(), adapterPrompt(text), nil)
			if !errors.Is(err, want.err) {
				t.Fatalf("the error is %v, want %v", err, want.err)
			}
			if err != nil && !strings.Contains(err.Error(), want.reason) {
				t.Errorf("the error is %v, want %q", err, want.reason)
			}
			if err == nil && (r.Outcome != want.outcome || r.Text != want.text || want.reason != "" && r.Reason != want.reason) {
				t.Errorf("the reply is %+v", r)
			}
		})
	}
}

// TestAdapterPassesCheck runs the check of agents on the adapter.
func TestAdapterPassesCheck(t *testing.T) {
	t.Parallel()
	err := check.Run(t.Context(), check.Config{
		Bid: unanswered, Exit: hangGuard,
		Open: func() (check.Endpoint, error) { return newAdapter(t, 0), nil },
		Report: func(r check.Result) {
			if r.OK == (r.Name == "bid") {
				t.Errorf("%s: ok is %t: %s", r.Name, r.OK, r.Detail)
			}
		},
	})
	if err != nil {
		t.Error(err)
	}
}

// TestAdapterPrompt checks that each turn is a session, and that the agent gets
// the text of the prompt unchanged, and nothing else but a fixed sentence.
func TestAdapterPrompt(t *testing.T) {
	t.Parallel()
	e := newAdapter(t, 0)
	p := adapterPrompt("prompt")
	p.MaxOutputChars, p.Host, p.Constraints, p.Summary = 10_000, endpoint.Origin{Name: "ann\n</x>", Device: "d"}, []string{"Be brief."}, "dba: earlier"
	p.History = []endpoint.Line{{From: "agent", Own: true, Text: "mine"}, {From: "dba", Text: "theirs\n\u202e"}}
	p = endpoint.Rendered(p)
	r, err := e.Speak(t.Context(), p, nil)
	var texts []string
	if err := errors.Join(err, json.Unmarshal([]byte(r.Text), &texts)); err != nil {
		t.Fatal(err)
	}
	if len(texts) != 2 || texts[0] != p.Text || !strings.Contains(texts[1], "PASS alone") {
		t.Errorf("the agent got %q, want\n%s", texts, p.Text)
	}
	if r, err := e.Speak(t.Context(), adapterPrompt("sessions"), nil); err != nil || r.Text != "s2" {
		t.Errorf("the second turn is session %s, %v", r.Text, err)
	}
}

// TestAdapterCancels checks that a slow turn is cancelled, and that the same
// process answers the next turn.
func TestAdapterCancels(t *testing.T) {
	t.Parallel()
	e := newAdapter(t, 0)
	if _, err := e.Speak(t.Context(), adapterPrompt("hello"), nil); err != nil { // wait for the start of the process
		t.Fatal(err)
	}
	p := adapterPrompt("slow")
	p.Timeout = 200 * time.Millisecond
	// The adapter has the same time-out, so either may report it first.
	if _, err := e.Speak(t.Context(), p, nil); err == nil || !errors.Is(err, endpoint.ErrTimeout) && !strings.Contains(err.Error(), "no answer in time") {
		t.Fatalf("the error is %v", err)
	}
	if r, err := e.Speak(t.Context(), adapterPrompt("sessions"), nil); err != nil || r.Text != "s3" {
		t.Errorf("%+v and %v", r, err)
	}
}

// TestAdapterExits checks that the adapter ends with its agent, so that both can
// be restarted.
func TestAdapterExits(t *testing.T) {
	t.Parallel()
	e := newAdapter(t, 1)
	_, err := e.Speak(t.Context(), adapterPrompt("exit"), nil)
	var pe *problem.Error
	if !errors.As(err, &pe) || pe.Code != "AGENT-EXITED" || !strings.Contains(pe.What, "acp.py: the agent has ended") {
		t.Fatalf("the error is %v", err)
	}
	if r, err := e.Speak(t.Context(), adapterPrompt("sessions"), nil); err != nil || r.Text != "s1" {
		t.Errorf("%+v and %v", r, err)
	}
}
