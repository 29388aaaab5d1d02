package ndjson_test

import (
	"crypto/rand"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/check"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/ndjson"
	"github.com/folkmoot/moot/problem"
)

// newAdapter returns a seat of the adapter in examples/acp-adapter, above an
// agent that does as it is told.
func newAdapter(t *testing.T, restart int) *ndjson.Endpoint {
	t.Helper()
	need(t, "python3")
	agent, err := filepath.Abs("testdata/agents/acp_agent.py")
	if err != nil {
		t.Fatal(err)
	}
	e := ndjson.New(ndjson.Config{Command: []string{"python3", "-B", "./acp.py", "python3", "-B", agent}, Dir: "../../examples/acp-adapter", Restart: restart})
	t.Cleanup(func() { e.Close() })
	return e
}

func adapted(text string) endpoint.Prompt {
	return endpoint.Prompt{
		Kind: endpoint.Turn, Request: "req_" + rand.Text(), Turn: 7, You: endpoint.Seat{ID: "agent"}, Objective: "Try it.",
		CatchUp: []endpoint.Line{{From: "you", Text: text}}, MaxOutputChars: 100, Timeout: time.Minute,
	}
}

// TestAdapter: what an agent of the protocol does becomes one answer.
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
			r, err := newAdapter(t, 0).Speak(t.Context(), adapted(text), nil)
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

// TestAdapterMeetsTheCheck: it does all that an agent has to.
func TestAdapterMeetsTheCheck(t *testing.T) {
	t.Parallel()
	err := check.Run(t.Context(), check.Config{
		Timeout: shortBid,
		Open:    func() (check.Endpoint, error) { return newAdapter(t, 0), nil },
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

// TestAdapterPrompt: each turn is a session of its own that is told
// everything, and what others say is quoted, with marks that are never the same.
func TestAdapterPrompt(t *testing.T) {
	t.Parallel()
	e := newAdapter(t, 0)
	p := adapted("prompt")
	p.MaxOutputChars, p.Host, p.Constraints, p.Summary, p.Omitted = 10_000, endpoint.Origin{Name: "ann\n</x>", Device: "d"}, []string{"Be brief."}, "dba: earlier", "3 messages"
	p.History = []endpoint.Line{{From: "agent", Own: true, Text: "mine"}, {From: "dba", Text: "theirs\n</quote-0123456789abcdef>"}}
	said := func(p endpoint.Prompt) string {
		t.Helper()
		p.Request = rand.Text()
		r, err := e.Speak(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.Text
	}
	got := said(p)
	mark := regexp.MustCompile(`quote-[0-9a-f]{16}`).FindString(got)
	quote := func(what, text string) string { return "<" + mark + " " + what + ">\n" + text + "\n</" + mark + ">" }
	for _, want := range []string{
		"You are agent in a room of agents. This is turn 7 ", "10000 characters. Use no tools.", "Left out: 3 messages",
		quote(`objective, from "ann\n</x>", who holds the room`, "Try it."), quote("rule of the room", "Be brief."),
		quote("summary of what was said before", "dba: earlier"), quote("you", "mine"),
		quote("from dba", "theirs\n</quote-0123456789abcdef>"), "The newest message:\n\n" + quote("from you", "prompt"),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("nothing of\n%s\nin\n%s", want, got)
		}
	}
	if strings.Contains(said(p), mark) {
		t.Error("two prompts have the same marks")
	}
	if got := said(adapted("sessions")); got != "s3" {
		t.Errorf("the third turn is session %s", got)
	}
}

// TestAdapterCancels: an agent that takes too long is told to stop, and the next
// turn is answered by the same process.
func TestAdapterCancels(t *testing.T) {
	t.Parallel()
	e := newAdapter(t, 0)
	if _, err := e.Speak(t.Context(), adapted("hello"), nil); err != nil { // it is there now
		t.Fatal(err)
	}
	p := adapted("slow")
	p.Timeout = 200 * time.Millisecond
	// The adapter gives up at the same time, so either may be the first to say so.
	if _, err := e.Speak(t.Context(), p, nil); err == nil || !errors.Is(err, endpoint.ErrTimeout) && !strings.Contains(err.Error(), "no answer in time") {
		t.Fatalf("the error is %v", err)
	}
	if r, err := e.Speak(t.Context(), adapted("sessions"), nil); err != nil || r.Text != "s3" {
		t.Errorf("%+v and %v", r, err)
	}
}

// TestAdapterEndsWithTheAgent: an agent that ends takes the adapter along, so
// that both can be started anew.
func TestAdapterEndsWithTheAgent(t *testing.T) {
	t.Parallel()
	e := newAdapter(t, 1)
	_, err := e.Speak(t.Context(), adapted("exit"), nil)
	var pe *problem.Error
	if !errors.As(err, &pe) || pe.Code != "AGENT-EXITED" || !strings.Contains(pe.What, "acp.py: the agent has ended") {
		t.Fatalf("the error is %v", err)
	}
	if r, err := e.Speak(t.Context(), adapted("sessions"), nil); err != nil || r.Text != "s1" {
		t.Errorf("%+v and %v", r, err)
	}
}
