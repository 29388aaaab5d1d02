package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
)

// Agents of the rooms of a test. Their process is this test program, started by moot
// with an address as its last argument: it speaks the Agent Client Protocol, and gets
// what it does in each turn from the test over HTTP. So a test decides when a piece of
// text comes.
type agents struct {
	t      *testing.T
	server *httptest.Server
	mu     sync.Mutex
	turns  map[string]chan func(*turn)
}

// agentArgument makes this program an agent.
const agentArgument = "agent"

func newAgents(t *testing.T) *agents {
	t.Helper()
	a := &agents{t: t, turns: map[string]chan func(*turn){}}
	a.server = httptest.NewServer(a)
	t.Cleanup(func() { a.server.CloseClientConnections(); a.server.Close() })
	return a
}

// endpoint returns the endpoint of an agent in a room.yaml.
func (a *agents) endpoint(id string) string {
	self, err := os.Executable()
	if err != nil {
		a.t.Fatal(err)
	}
	return fmt.Sprintf("{kind: acp, command: [%q, %s, %q], say: all}", self, agentArgument, a.server.URL+"/"+id)
}

// on says what an agent does in its next turn that has nothing yet. A turn without
// anything waits for it: the agent is thinking.
func (a *agents) on(id string, do func(*turn)) { a.queue(id) <- do }

// says lets the agent say a text in its next turn.
func (a *agents) says(id, text string) {
	a.on(id, func(t *turn) { t.say(text) })
}

func (a *agents) queue(id string) chan func(*turn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.turns[id] == nil {
		a.turns[id] = make(chan func(*turn), 1000)
	}
	return a.turns[id]
}

// ServeHTTP answers the process of an agent with the steps of its turn.
func (a *agents) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil { // without its end the server does not see that the agent goes
		return
	}
	select {
	case do := <-a.queue(strings.TrimPrefix(r.URL.Path, "/")):
		do(&turn{ctx: r.Context(), w: w})
	case <-r.Context().Done():
	}
}

// A turn is one that an agent has.
type turn struct {
	ctx context.Context // ends when the turn is cancelled
	w   http.ResponseWriter
}

// A step is what an agent does in a turn: one field is set.
type step struct {
	Update map[string]any `json:"update,omitempty"` // of the session
	Ask    map[string]any `json:"ask,omitempty"`    // a request for a permission, whose answer it waits for
	Form   map[string]any `json:"form,omitempty"`   // a question by a form, whose answer it waits for
	Fail   string         `json:"fail,omitempty"`
	Usage  map[string]any `json:"usage,omitempty"`
}

func (t *turn) do(s step) {
	_ = json.NewEncoder(t.w).Encode(s) // the turn was cancelled, if not
	_ = http.NewResponseController(t.w).Flush()
}

// say sends a piece of the text.
func (t *turn) say(text string) {
	t.do(step{Update: map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]string{"type": "text", "text": text}}})
}

// use reports a tool call that is completed.
func (t *turn) use(kind, title string, more map[string]any) {
	call := map[string]any{"sessionUpdate": "tool_call", "toolCallId": "call-" + title, "title": title, "kind": kind, "status": "completed"}
	for k, v := range more {
		call[k] = v
	}
	t.do(step{Update: call})
}

// ask asks for a permission. The next step follows the answer.
func (t *turn) ask(kind, title string, more map[string]any) {
	call := map[string]any{"toolCallId": "call-" + title, "title": title, "kind": kind, "status": "pending"}
	for k, v := range more {
		call[k] = v
	}
	t.do(step{Ask: map[string]any{"toolCall": call, "options": []map[string]string{
		{"optionId": "once", "name": "Allow", "kind": "allow_once"},
		{"optionId": "always", "name": "Always allow", "kind": "allow_always"},
		{"optionId": "no", "name": "Reject", "kind": "reject_once"},
	}}})
}

// form puts a question with fields, properties of a JSON Schema in JSON. The next step
// follows the answer.
func (t *turn) form(message, properties string, required ...string) {
	t.do(step{Form: map[string]any{"mode": "form", "message": message, "requestedSchema": map[string]any{
		"type": "object", "properties": json.RawMessage(properties), "required": required,
	}}})
}

// states states the tokens of the turn.
func (t *turn) states(input, output int) {
	t.do(step{Usage: map[string]any{"inputTokens": input, "outputTokens": output, "totalTokens": input + output}})
}

// fail ends the turn with an error.
func (t *turn) fail(text string) { t.do(step{Fail: text}) }

// waits ends when the channel is closed or the turn is cancelled.
func (t *turn) waits(c <-chan struct{}) {
	select {
	case <-c:
	case <-t.ctx.Done():
	}
}

// An agentProcess is the agent's side, in the process that moot starts.
type agentProcess struct {
	url     string
	mu      sync.Mutex
	out     io.Writer
	asked   int
	answers map[string]chan struct{}
	cancel  context.CancelFunc // of the turn that runs
}

func runAgent(url string) int {
	p := &agentProcess{url: url, out: os.Stdout, answers: map[string]chan struct{}{}, cancel: func() {}}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ SessionID string }
		}
		if json.Unmarshal(line, &m) != nil {
			return 1
		}
		p.receive(m.ID, m.Method, m.Params.SessionID, line)
	}
}

func (p *agentProcess) receive(id json.RawMessage, method, session string, line []byte) {
	switch method {
	case "":
		p.answered(strings.Trim(string(id), `"`))
	case "initialize":
		p.send(map[string]any{"id": id, "result": map[string]any{"protocolVersion": 1, "agentCapabilities": map[string]any{}, "authMethods": []any{}}})
	case "session/new":
		p.send(map[string]any{"id": id, "result": map[string]any{"sessionId": "s1"}})
	case "session/prompt":
		ctx, cancel := context.WithCancel(context.Background())
		p.mu.Lock()
		p.cancel = cancel
		p.mu.Unlock()
		go p.turn(ctx, id, session, line)
	case "session/cancel":
		p.mu.Lock()
		p.cancel()
		p.mu.Unlock()
	default:
		if id != nil {
			p.send(map[string]any{"id": id, "error": map[string]any{"code": -32601, "message": "no such method"}})
		}
	}
}

func (p *agentProcess) send(message map[string]any) {
	message["jsonrpc"] = "2.0"
	b, err := json.Marshal(message)
	if err != nil {
		panic(err) // maps of this file
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.out.Write(append(b, '\n')) // moot has gone, if not
}

// turn does the steps of a turn.
func (p *agentProcess) turn(ctx context.Context, id json.RawMessage, session string, prompt []byte) {
	result := map[string]any{"stopReason": "end_turn"}
	fail := ""
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(prompt))
	if err == nil {
		var resp *http.Response
		if resp, err = http.DefaultClient.Do(req); err == nil {
			defer resp.Body.Close()
			steps := json.NewDecoder(resp.Body)
			for {
				var s step
				if err = steps.Decode(&s); err != nil {
					break
				}
				switch {
				case s.Update != nil:
					p.send(map[string]any{"method": "session/update", "params": map[string]any{"sessionId": session, "update": s.Update}})
				case s.Ask != nil:
					s.Ask["sessionId"] = session
					p.ask(ctx, "session/request_permission", s.Ask)
				case s.Form != nil:
					s.Form["sessionId"] = session
					p.ask(ctx, "elicitation/create", s.Form)
				case s.Fail != "":
					fail = s.Fail
				case s.Usage != nil:
					result["usage"] = s.Usage
				}
			}
		}
	}
	switch {
	case ctx.Err() != nil:
		result["stopReason"] = "cancelled"
	case fail == "" && err != io.EOF:
		fail = err.Error()
	}
	if fail != "" {
		p.send(map[string]any{"id": id, "error": map[string]any{"code": -32603, "message": fail}})
		return
	}
	p.send(map[string]any{"id": id, "result": result})
}

// ask sends a request and waits for its answer.
func (p *agentProcess) ask(ctx context.Context, method string, params map[string]any) {
	p.mu.Lock()
	p.asked++
	id, done := fmt.Sprint("ask-", p.asked), make(chan struct{})
	p.answers[id] = done
	p.mu.Unlock()
	p.send(map[string]any{"id": id, "method": method, "params": params})
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func (p *agentProcess) answered(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done := p.answers[id]; done != nil {
		close(done)
		delete(p.answers, id)
	}
}
