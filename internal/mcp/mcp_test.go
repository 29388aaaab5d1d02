package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/folkmoot/moot/problem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fakeAPI answers as a server would.
type fakeAPI struct {
	caller  caller
	listing bool // it has the room r_1
	answer  func(ctx context.Context, method, path string, body []byte) (string, error)

	mu    sync.Mutex
	calls []string
}

func (f *fakeAPI) Call(ctx context.Context, method, path string, in, out any) error {
	body := []byte{}
	if in != nil {
		body, _ = json.Marshal(in)
	}
	answer, err := "{}", error(nil)
	switch {
	case path == "/api/caller":
		b, _ := json.Marshal(f.caller)
		answer = string(b)
	case f.listing && path == "/api/rooms/r_1":
		answer = `{"participants":[{"id":"ann","kind":"agent","presence":"away","may_call":true},{"id":"bot","kind":"agent"},{"id":"per","kind":"human"},{"id":"dba","kind":"agent","role":"specialist:db","may_call":true}]}`
	default:
		f.mu.Lock()
		f.calls = append(f.calls, strings.TrimSpace(method+" "+path+" "+string(body)))
		f.mu.Unlock()
		if f.answer != nil {
			answer, err = f.answer(ctx, method, path, body)
		}
	}
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal([]byte(answer), out)
}

func (f *fakeAPI) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// Callers.
var (
	session = caller{Scope: "talk", Room: "r_1", Seat: "ann", Session: "r_1.ann"}
	agent   = caller{Scope: "talk", Room: "r_1", Seat: "bot", Session: "r_1.bot"}
	worker  = caller{Scope: "talk", Room: "r_1", Seat: "dba", Session: "r_1.dba"}
	person  = caller{Scope: "talk", Room: "r_1", Seat: "per", Session: "r_1.per"}
	talker  = caller{Scope: "talk"}
	reader  = caller{Scope: "read"}
	admin   = caller{Scope: "admin"}
)

// revisions are the protocol's, of both eras.
var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

// connected returns a client of that revision, over stdio or HTTP.
func connected(t *testing.T, f API, transport, revision string, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	if o == nil {
		o = &sdk.ClientOptions{}
	}
	if o.Capabilities == nil {
		o.Capabilities = &sdk.ClientCapabilities{}
	}
	var to sdk.Transport
	switch transport {
	case "stdio":
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- Serve(context.Background(), Config{Progress: time.Millisecond}, f, inR, outW) }()
		t.Cleanup(func() {
			if err := <-done; err != nil && !errors.Is(err, io.ErrClosedPipe) { // progress may be written when the client goes
				t.Error(err)
			}
		})
		to = &sdk.IOTransport{Reader: outR, Writer: inW}
	case "http":
		s := New(Config{Progress: time.Millisecond})
		web := httptest.NewServer(s.Handler(func(*http.Request) Client { return Client{ID: "one", API: f} }))
		t.Cleanup(func() { s.Close(); web.Close() })
		to = &sdk.StreamableClientTransport{Endpoint: web.URL, DisableStandaloneSSE: true, HTTPClient: web.Client()}
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o)
	cs, err := c.Connect(t.Context(), to, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cs.Close() })
	return cs
}

// everywhere runs a test over both transports, in each revision.
func everywhere(t *testing.T, run func(t *testing.T, transport, revision string)) {
	for _, transport := range []string{"stdio", "http"} {
		for _, revision := range revisions {
			t.Run(transport+" "+revision, func(t *testing.T) { run(t, transport, revision) })
		}
	}
}

func toolNames(t *testing.T, cs *sdk.ClientSession) (names []string) {
	t.Helper()
	for d, err := range cs.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, d.Name)
	}
	return names
}

// TestShown checks which tools a caller is shown, and the form of their descriptions.
func TestShown(t *testing.T) {
	forAll := []string{"get_session_state", "list_rooms", "read_room"}
	forAgents := append([]string{"create_agent_session", "send_agent_message"}, forAll...)
	forPeople := append([]string{"post_message"}, forAgents...)
	forCalls := []string{"call_agent", "cancel_call", "get_call", "reply_call"}
	forMail := []string{"ack_message", "pull_messages"}
	withSeat := slices.Concat([]string{"hand_off"}, forMail, forPeople)
	everyone := append([]string{"answer_turn", "await_turn", "pass_turn", "hand_off"}, forPeople...)
	all := slices.Concat(everyone, forCalls, forMail)
	working := slices.Concat(withSeat, forCalls, []string{"claim_task"})
	for _, c := range []struct {
		caller caller
		want   []string
	}{{reader, forAll}, {talker, forAgents}, {agent, withSeat}, {worker, working}, {person, forPeople}, {session, all}, {admin, everyone}} {
		everywhere(t, func(t *testing.T, transport, revision string) {
			cs := connected(t, &fakeAPI{caller: c.caller, listing: true}, transport, revision, nil)
			slices.Sort(c.want)
			if got := toolNames(t, cs); !slices.Equal(got, c.want) {
				t.Errorf("%+v sees %v, want %v", c.caller, got, c.want)
			}
			if got := cs.InitializeResult().ProtocolVersion; got != revision {
				t.Errorf("the revision is %s", got)
			}
		})
	}
	if len(tools) > 17 {
		t.Errorf("a client gets %d tools", len(tools))
	}
	long := strings.Repeat("r", 30) + "." + strings.Repeat("s", 32)
	for _, d := range tools {
		for _, id := range []string{"", long} {
			if text := d.describe(id); len(text) >= 400 {
				t.Errorf("%s: the description has %d characters: %s", d.name, len(text), text)
			}
		}
	}
}

// TestCallback checks that the tools for sessions name the caller's own session.
func TestCallback(t *testing.T) {
	cs := connected(t, &fakeAPI{caller: agent}, "http", "2026-07-28", nil)
	for d, err := range cs.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(d.Name, "agent_") && !strings.Contains(d.Description, `send_agent_message("r_1.bot"`) {
			t.Errorf("%s: %s", d.Name, d.Description)
		}
		if d.Name == "send_agent_message" && !strings.Contains(d.Description, "SendMessage") || d.Name == "list_rooms" && !strings.Contains(d.Description, "ListAgents") {
			t.Errorf("%s does not say what it is in other products: %s", d.Name, d.Description)
		}
	}
}

// TestTranslation checks what each tool asks of the API.
func TestTranslation(t *testing.T) {
	for _, c := range []struct{ tool, args, want string }{
		{"send_agent_message", `{"sessionId":"r_2.bob","message":"hi"}`, `POST /api/sessions/r_2.bob/messages {"message":"hi","source":"agent"}`},
		{"get_session_state", `{"sessionId":"r_2.bob"}`, `GET /api/sessions/r_2.bob/state`},
		{"create_agent_session", `{"cwd":"/src","initialMessage":"go"}`, `POST /api/sessions {"cwd":"/src","initialMessage":"go"}`},
		{"list_rooms", `{}`, `GET /api/rooms`},
		{"read_room", `{"after":7}`, `GET /api/rooms/r_1, GET /api/rooms/r_1/messages?after=7&limit=50`},
		{"read_room", `{"room":"r/../x"}`, `GET /api/rooms/r%2F..%2Fx, GET /api/rooms/r%2F..%2Fx/messages?after=0&limit=50`},
		{"post_message", `{"text":"hi","to":"bob","id":"m1"}`, `GET /api/rooms/r_1, POST /api/rooms/r_1/commands {"id":"m1","do":"say","text":"hi","to":"bob"}`},
		{"post_message", `{"text":"hi","to_agent":"manager","kind":"result_bundle","summary":"s","payload":{"task":"t1"},"visibility":"internal","priority":"high","requires_ack":true,"correlation_id":"c","parent_id":"p","notify":"idle","message_id":"m1"}`, `POST /api/rooms/r_1/seats/ann/post {"to":"manager","text":"hi","kind":"result_bundle","summary":"s","payload":{"task":"t1"},"visibility":"internal","priority":"high","requires_ack":true,"correlation_id":"c","parent_id":"p","notify":"idle","message_id":"m1"}`},
		{"post_message", `{"to":"bob","id":"m1","kind":"blocker"}`, `POST /api/rooms/r_1/seats/ann/post {"to":"bob","kind":"blocker","message_id":"m1"}`},
		{"pull_messages", `{}`, `GET /api/rooms/r_1/seats/ann/pull?max_items=50`},
		{"pull_messages", `{"max_items":1000}`, `GET /api/rooms/r_1/seats/ann/pull?max_items=100`},
		{"ack_message", `{"message_id":"m1"}`, `POST /api/rooms/r_1/seats/ann/ack {"message_id":"m1"}`},
		{"claim_task", `{"task":"t1"}`, `POST /api/rooms/r_1/seats/ann/claims {"task":"t1"}`},
		{"await_turn", `{"wait":500}`, `POST /api/rooms/r_1/seats/ann/await {"wait":"55s"}`},
		{"await_turn", `{"room":"r_2","seat":"bob","fresh":true}`, `POST /api/rooms/r_2/seats/bob/await {"wait":"25s","fresh":true}`},
		{"call_agent", `{"agent_name":"dba","task":"look","wait":0}`, `POST /api/rooms/r_1/seats/ann/calls {"agent_name":"dba","task":"look","wait_ms":0}`},
		{"get_call", `{"call_id":"c1","wait":5}`, `GET /api/rooms/r_1/seats/ann/calls/c1?wait=5s`},
		{"reply_call", `{"call_id":"c1","text":"yes"}`, `POST /api/rooms/r_1/seats/ann/calls/c1/reply {"text":"yes"}`},
		{"cancel_call", `{"call_id":"c1"}`, `POST /api/rooms/r_1/seats/ann/calls/c1/cancel {}`},
		{"answer_turn", `{"request":"q1","text":"done"}`, `POST /api/rooms/r_1/seats/ann/answer {"request":"q1","text":"done"}`},
		{"pass_turn", `{"request":"q1","reason":"nothing new"}`, `POST /api/rooms/r_1/seats/ann/pass {"request":"q1","reason":"nothing new"}`},
		{"hand_off", `{"to":"bob","reason":"locks"}`, `POST /api/rooms/r_1/seats/ann/handoff {"to":"bob","reason":"locks"}`},
	} {
		everywhere(t, func(t *testing.T, transport, revision string) {
			f := &fakeAPI{caller: session}
			res := called(t, connected(t, f, transport, revision, nil), c.tool, c.args)
			if got := strings.Join(f.seen(), ", "); res.IsError || got != c.want {
				t.Errorf("%s %s: %s\nasks %s\nwant %s", c.tool, c.args, text(res), got, c.want)
			}
		})
	}
}

// TestRefused checks that the model reads why a call is refused, and what to do.
func TestRefused(t *testing.T) {
	everywhere(t, func(t *testing.T, transport, revision string) {
		f := &fakeAPI{caller: admin, answer: func(context.Context, string, string, []byte) (string, error) {
			return "", &problem.Error{Code: "API-FORBIDDEN", What: "no", Fix: "ask the host"}
		}}
		cs := connected(t, f, transport, revision, nil)
		for _, c := range []struct{ tool, args, want string }{
			{"list_rooms", `{}`, "no [API-FORBIDDEN]\nfix: ask the host"},
			{"read_room", `{}`, "MCP-ROOM"},
			{"await_turn", `{"room":"r_1"}`, "MCP-SEAT"},
			{"get_session_state", `{"sessionId":".."}`, "MCP-ID"},
			{"answer_turn", `{"room":"r_1","seat":"ann","waiting":"x"}`, "MCP-WAITING"},
			{"list_rooms", `{"as":"root"}`, "additional properties"},
			{"post_message", `{"room":"r_1","kind":"decision","text":"x"}`, "MCP-SEAT"},
			{"post_message", `{"room":"r_1","text":"x","from_agent":"lead"}`, "additional properties"},
			{"ack_message", `{"room":"r_1","seat":"bot","message_id":"m1","participant":"lead"}`, "additional properties"},
			{"send_agent_message", `{"sessionId":"r_1.ann","message":"hi","fromSession":"r_1.bob"}`, "additional properties"},
		} {
			if res := called(t, cs, c.tool, c.args); !res.IsError || !strings.Contains(text(res), c.want) {
				t.Errorf("%s %s: error %t, %s", c.tool, c.args, res.IsError, text(res))
			}
		}
	})
}

// TestPlainTalk checks which message without the fields of an envelope is a command, and
// which a message of a seat that the room drives.
func TestPlainTalk(t *testing.T) {
	for _, c := range []struct {
		caller     caller
		args, want string
	}{
		{session, `{"text":"hi"}`, `POST /api/rooms/r_1/commands {"do":"say","text":"hi"}`},
		{person, `{"text":"hi"}`, `POST /api/rooms/r_1/commands {"do":"say","text":"hi"}`},
		{admin, `{"room":"r_1","text":"hi","as":"per"}`, `POST /api/rooms/r_1/commands {"do":"say","as":"per","text":"hi"}`},
		{agent, `{"text":"hi","to":"ann","id":"m1"}`, `POST /api/rooms/r_1/seats/bot/post {"to":"ann","text":"hi","message_id":"m1"}`},
		{admin, `{"room":"r_1","text":"hi","as":"dba","kind":"blocker"}`, `POST /api/rooms/r_1/seats/dba/post {"text":"hi","kind":"blocker"}`},
	} {
		f := &fakeAPI{caller: c.caller, listing: true}
		res := called(t, connected(t, f, "http", "2026-07-28", nil), "post_message", c.args)
		if got := strings.Join(f.seen(), ", "); res.IsError || got != c.want {
			t.Errorf("%+v %s: %s\nasks %s\nwant %s", c.caller, c.args, text(res), got, c.want)
		}
	}
}

func called(t *testing.T, cs *sdk.ClientSession, tool, args string) *sdk.CallToolResult {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func text(res *sdk.CallToolResult) (all string) {
	for _, c := range res.Content {
		if c, ok := c.(*sdk.TextContent); ok {
			all += c.Text
		}
	}
	return all
}
