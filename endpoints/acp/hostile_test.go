package acp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/acp"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/endpointtest"
)

// attack is the first turn of a hostile agent. It reports false if the scenario is
// not one of them.
func (f *fixture) attack() bool {
	switch f.scenario {
	case "noise":
		fmt.Print(strings.Repeat("npm warn deprecated\n", 50))
	case "sequence":
		fmt.Print("\x1b[?25l\x1b]0;title\x07")
	case "chunks":
		for range 20_000 {
			f.say("x")
		}
		f.end("end_turn")
		return true
	case "long-line":
		f.say(strings.Repeat("x", 11<<20))
	case "unknown-kinds":
		f.update(obj{"sessionUpdate": "agent_song_chunk", "content": obj{"type": "text", "text": "la la"}, "title": 5})
	case "no-content":
		f.update(obj{"sessionUpdate": "agent_message_chunk"})
	case "two-results":
		f.answerWell()
		f.say("and again")
	case "late-chunks":
		f.answerWell()
		f.say("and another thing")
		return true
	case "permission":
		emit(obj{"id": "p1", "method": "session/request_permission", "params": obj{
			"sessionId": f.session, "toolCall": obj{"toolCallId": "t1", "title": "rm -rf /"},
			"options": []obj{{"optionId": "y", "name": "Yes", "kind": "allow_once"}, {"optionId": "n", "name": "No", "kind": "reject_once"}},
		}})
		return true // ends when it is answered
	case "cancel-ignored":
		if firstTime("prompt") {
			f.think("working")
			return true
		}
		return false
	case "exit-in-prompt":
		if firstTime("prompt") {
			f.exit("")
		}
		return false
	case "exit-between":
		f.answerWell()
		if firstTime("between") {
			f.exit("")
		}
		return true
	case "bad-utf8":
		fmt.Printf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"`+"\xff\xfe"+"\"}}}}\n", f.session)
	case "unknown-method":
		emit(obj{"id": 1, "method": "fs/read_text_file", "params": obj{"sessionId": f.session, "path": "/etc/passwd"}})
		emit(obj{"id": "2", "method": "moot/open_the_room", "params": obj{}})
		return true // ends when both are answered
	case "other-session":
		f.session = "s999"
		f.say("from another session")
		emit(obj{"id": "p1", "method": "session/request_permission", "params": obj{
			"sessionId": f.session, "toolCall": obj{"toolCallId": "t1"}, "options": []obj{{"optionId": "y", "name": "Yes", "kind": "allow_once"}},
		}})
		return true // ends when it is answered
	default:
		return false
	}
	f.answerWell()
	return true
}

// permitted ends the turn that waited for a permission, unless it was cancelled.
func (f *fixture) permitted(outcome, option string) {
	switch f.scenario {
	case "unknown-method":
		if f.turns++; f.turns < 3 {
			return
		}
	case "other-session":
		f.session = "s1"
		f.text = outcome
	case "permission":
		return // the turn is cancelled next
	}
	f.answerWell()
}

// A hostileCase is an agent whose first turn is bad, and what becomes of that turn.
type hostileCase struct {
	agent     string
	err       error  // of the first turn
	text      string // of the first turn, without an error
	violation string // a violation that is raised
	cancel    bool   // the first turn is cancelled once it works or asks
	forgets   bool   // the next turn has a new session
}

var hostileCases = []hostileCase{
	{agent: "noise", err: endpoint.ErrProtocol, violation: "noise"},
	{agent: "sequence", text: "echo: one"},
	{agent: "chunks", text: strings.Repeat("x", 20_000)},
	{agent: "long-line", err: endpoint.ErrTooLarge, violation: "line_too_long"},
	{agent: "unknown-kinds", text: "echo: one"},
	{agent: "no-content", text: "echo: one", violation: "bad_update"},
	{agent: "two-results", text: "echo: one", violation: "duplicate_response", forgets: true},
	{agent: "late-chunks", text: "echo: one", violation: "late_update", forgets: true},
	{agent: "permission", err: context.Canceled, cancel: true},
	{agent: "cancel-ignored", err: context.Canceled, cancel: true, forgets: true},
	{agent: "exit-in-new", err: endpoint.ErrExited},
	{agent: "exit-in-prompt", err: endpoint.ErrExited, forgets: true},
	{agent: "exit-between", text: "echo: one", forgets: true},
	{agent: "bad-utf8", err: endpoint.ErrProtocol, violation: "bad_message"},
	{agent: "unknown-method", text: "echo: one"},
	{agent: "other-session", text: "echo: cancelled", violation: "other_session"},
}

// TestHostileAgents checks that each hostile agent fails at most the turn in which it
// is hostile, and that the next turn gets its own answer.
func TestHostileAgents(t *testing.T) {
	for _, c := range hostileCases {
		t.Run(c.agent, func(t *testing.T) {
			t.Parallel()
			e := hostile(t, c.agent)
			room := newRoom()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.cancel {
				go func() {
					room.waitFor(t, "working")
					cancel()
				}()
			}
			r, err := e.Speak(ctx, ask("one"), room)
			if !errors.Is(err, c.err) || r.Text != c.text {
				t.Fatalf("the first turn: %.200q and %v, want %.200q and %v", r.Text, err, c.text, c.err)
			}
			if c.violation != "" {
				room.waitFor(t, c.violation)
			}
			if c.agent == "exit-between" {
				room.waitFor(t, endpoint.SignalExited)
			}
			if err := e.Start(t.Context(), room); err != nil {
				t.Fatalf("the next start: %v", err)
			}
			for _, text := range []string{"two", "three"} {
				if r, err := e.Speak(t.Context(), ask(text), room); err != nil || r.Text != endpointtest.Answer(text) {
					t.Errorf("asked %q: %.200q and %v", text, r.Text, err)
				}
			}
			if n := room.count(endpoint.SignalForgot); n != 0 != c.forgets || n > 1 {
				t.Errorf("%d signals that the agent forgot, want one: %t", n, c.forgets)
			}
		})
	}
}

// hostile returns an endpoint of a hostile agent.
func hostile(t *testing.T, scenario string) *acp.Endpoint {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := acp.New(acp.Config{
		Command: []string{self}, Dir: t.TempDir(), Env: []string{fixtureVar + "=" + scenario}, AllowEnv: []string{"GOCOVERDIR"},
		Restart: 3, Grace: 500 * time.Millisecond,
	})
	t.Cleanup(func() { e.Close() })
	return e
}

var requests struct {
	sync.Mutex
	n int
}

// ask returns a prompt whose newest message is text.
func ask(text string) endpoint.Prompt {
	requests.Lock()
	defer requests.Unlock()
	requests.n++
	return endpoint.Rendered(endpoint.Prompt{
		Kind: endpoint.Turn, Request: fmt.Sprint("req_", requests.n), You: endpoint.Seat{ID: "me"}, Objective: "Test.",
		CatchUp: []endpoint.Line{{From: "you", Text: text}}, MaxOutputChars: 30_000, Timeout: hangGuard,
	})
}

// A room records what an endpoint raises and shows.
type room struct {
	mu     sync.Mutex
	news   chan struct{} // closed and replaced at each entry
	seen   []string      // kinds and codes of signals
	shown  string
	answer func(ctx context.Context, p endpoint.Permission) (endpoint.Answer, error)
}

func newRoom() *room { return &room{news: make(chan struct{})} }

// Raise records s. A permission gets the answer that the test chose; without one it
// waits until the agent's turn is over.
func (r *room) Raise(ctx context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	r.note(func() { r.seen = append(r.seen, s.Kind, s.Code) })
	if s.Kind != endpoint.SignalPermission {
		return endpoint.Answer{Allowed: true}, nil
	}
	if r.answer != nil {
		return r.answer(ctx, *s.Permission)
	}
	r.note(func() { r.shown += "working" })
	<-ctx.Done()
	return endpoint.Answer{}, ctx.Err()
}

// Show records live text.
func (r *room) Show(delta string) { r.note(func() { r.shown += delta }) }

// ShowTool records a tool call as live text.
func (r *room) ShowTool(c endpoint.ToolCall) {
	r.note(func() { r.shown += fmt.Sprintf("[%s %s %s]\n", c.Kind, c, c.Status) })
}

func (r *room) note(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	close(r.news)
	r.news = make(chan struct{})
}

func (r *room) count(what string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.seen {
		if s == what {
			n++
		}
	}
	return n
}

// waitFor waits for a signal of that kind or code, or live text.
func (r *room) waitFor(t testing.TB, what string) {
	t.Helper()
	limit := time.NewTimer(2 * hangGuard) // what never comes
	defer limit.Stop()
	for {
		r.mu.Lock()
		news, shown := r.news, r.shown
		r.mu.Unlock()
		if r.count(what) > 0 || strings.Contains(shown, what) {
			return
		}
		select {
		case <-news:
		case <-limit.C:
			t.Errorf("no %s", what)
			return
		}
	}
}
