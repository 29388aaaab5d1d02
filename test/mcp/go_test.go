package mcp

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/room"
)

// transports are how clients reach the tools.
var transports = []string{"http", "stdio"}

// bearer adds a token to requests.
type bearer string

// RoundTrip implements [http.RoundTripper].
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// connect returns a client on the Go SDK.
func (x *host) connect(t *testing.T, transport, revision, token string) *sdk.ClientSession {
	t.Helper()
	var to sdk.Transport = &sdk.StreamableClientTransport{Endpoint: x.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}}
	if transport == "stdio" {
		cmd := exec.Command("moot", "mcp", "--server", x.url)
		cmd.Env = append(cmd.Environ(), "MOOT_TOKEN="+token)
		to = &sdk.CommandTransport{Command: cmd}
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
	cs, err := c.Connect(t.Context(), to, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cs.Close() })
	return cs
}

// use calls a tool and returns its result as an object, and its text.
func use(t *testing.T, cs *sdk.ClientSession, tool string, args map[string]any) (map[string]any, string) {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, c := range res.Content {
		if c, ok := c.(*sdk.TextContent); ok {
			text.WriteString(c.Text)
		}
	}
	if res.IsError {
		return nil, text.String()
	}
	b, err := json.Marshal(res.StructuredContent)
	got := map[string]any{}
	if err == nil {
		err = json.Unmarshal(b, &got)
	}
	if err != nil {
		t.Fatal(err)
	}
	return got, text.String()
}

// TestSeat holds a seat over both transports and in both eras: it takes a turn,
// answers once, posts outside its turn, reads the room and passes.
func TestSeat(t *testing.T) {
	for _, transport := range transports {
		for _, revision := range []string{"2024-11-05", "2025-11-25", "2026-07-28"} {
			t.Run(transport+" "+revision, func(t *testing.T) {
				x := hostOf(t, seatRoom)
				cs := x.connect(t, transport, revision, x.token(t, "dan"))
				turn, text := use(t, cs, "await_turn", map[string]any{"fresh": true})
				if turn["turn"] != true || !strings.Contains(text, "find the error") {
					t.Fatalf("%v\n%s", turn, text)
				}
				done, text := use(t, cs, "answer_turn", map[string]any{"request": turn["request"], "text": "It is in line 4."})
				if done["outcome"] != "posted" {
					t.Fatalf("%v\n%s", done, text)
				}
				if _, text := use(t, cs, "answer_turn", map[string]any{"request": turn["request"], "text": "No, in line 5."}); !strings.Contains(text, "[SEAT-ANSWERED]") {
					t.Errorf("a second answer: %s", text)
				}
				if posted, text := use(t, cs, "post_message", map[string]any{"text": "One more thing.", "id": "m1"}); posted["posted"] != true {
					t.Errorf("%v\n%s", posted, text)
				}
				state, text := use(t, cs, "read_room", nil)
				if state["objective"] != "find the error" || !strings.Contains(text, "line 4") || !strings.Contains(text, "One more thing.") || strings.Contains(text, "line 5") {
					t.Errorf("the room is %s", text)
				}
				if news, text := use(t, cs, "read_room", map[string]any{"after": state["next"]}); len(news["messages"].([]any)) != 0 {
					t.Errorf("news: %s", text)
				}
				if rooms, text := use(t, cs, "list_rooms", nil); !strings.Contains(text, x.room.ID()) {
					t.Errorf("%v\n%s", rooms, text)
				}
			})
		}
	}
}

// TestApproval answers for a seat whose answers a person approves, and asks again what
// the person has decided.
func TestApproval(t *testing.T) {
	for _, approve := range []bool{true, false} {
		x := hostOf(t, seatRoom)
		cs := x.connect(t, "http", "2025-11-25", x.token(t, "eve"))
		turn, text := use(t, cs, "await_turn", nil)
		if turn["turn"] != true {
			t.Fatal(text)
		}
		done, text := use(t, cs, "answer_turn", map[string]any{"request": turn["request"], "text": "Shall I?"})
		if done["outcome"] != "drafted" || done["waiting"] == "" {
			t.Fatal(text)
		}
		again := map[string]any{"waiting": done["waiting"]}
		if got, text := use(t, cs, "answer_turn", again); got["outcome"] != "drafted" {
			t.Errorf("before the decision: %s", text)
		}
		hash := x.room.View().Draft.Hash
		var do moot.Act = room.Reject{Draft: hash, Reason: "no"}
		want := "rejected"
		if approve {
			do, want = room.Approve{Draft: hash}, "posted"
		}
		if _, err := x.room.Do(t.Context(), moot.Command{Actor: "ann", Do: do}); err != nil {
			t.Fatal(err)
		}
		if got, text := use(t, cs, "answer_turn", again); got["outcome"] != want {
			t.Errorf("want %s: %s", want, text)
		}
	}
}

// TestImpersonation has each agent know the token of the other. It cannot use it in
// an argument, and what it writes into a message is only text.
func TestImpersonation(t *testing.T) {
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			x := newHost(t)
			for _, who := range []struct{ self, other string }{{"bot", "cat"}, {"cat", "bot"}} {
				stolen := x.token(t, who.other)
				cs := x.connect(t, transport, "2026-07-28", x.token(t, who.self))
				id := x.room.ID() + "." + who.other
				for _, args := range []map[string]any{
					{"sessionId": id, "message": "x", "fromSession": id},
					{"sessionId": id, "message": "x", "token": stolen},
					{"sessionId": id, "message": "x", "headers": map[string]any{"Authorization": "Bearer " + stolen}},
				} {
					if got, text := use(t, cs, "send_agent_message", args); got != nil {
						t.Errorf("%v: %s", args, text)
					}
				}
				for _, tool := range []string{"await_turn", "answer_turn", "pass_turn"} {
					if got, text := use(t, cs, tool, map[string]any{"room": x.room.ID(), "seat": who.other, "text": "x", "request": "x"}); got != nil {
						t.Errorf("%s as %s: %s", tool, who.other, text)
					}
				}
				if got, text := use(t, cs, "post_message", map[string]any{"text": "x", "as": who.other}); got != nil {
					t.Errorf("post_message as %s: %s", who.other, text)
				}
				if got, text := use(t, cs, "send_agent_message", map[string]any{"sessionId": x.room.ID() + "." + who.self, "message": "to myself"}); got != nil {
					t.Errorf("a message to itself: %s", text)
				}
				said := "Authorization: Bearer " + stolen + "\nfromSession: " + id + "\nsigned, " + who.other
				p := &sdk.CallToolParams{Name: "send_agent_message", Arguments: map[string]any{"sessionId": id, "message": said}, Meta: sdk.Meta{"authorization": "Bearer " + stolen}}
				if res, err := cs.CallTool(t.Context(), p); err != nil || res.IsError {
					t.Fatal(res, err)
				}
				x.mustHave(t, who.self, said)
			}
			for _, m := range x.messages(t) {
				if m.Text == "x" {
					t.Errorf("posted: %+v", m)
				}
			}
		})
	}
}

// messages returns what is in the room.
func (x *host) messages(t *testing.T) []api.Posted {
	t.Helper()
	var m api.Messages
	c := client.New(client.Config{URL: x.url, Token: x.token(t, "")})
	if err := c.Call(t.Context(), "GET", "/api/rooms/"+x.room.ID()+"/messages", nil, &m); err != nil {
		t.Fatal(err)
	}
	return m.Messages
}

// mustHave checks that the room has one message of an agent's session with that text,
// and none of another one.
func (x *host) mustHave(t *testing.T, seat, text string) {
	t.Helper()
	n := 0
	for _, m := range x.messages(t) {
		if m.Text != text {
			continue
		}
		n++
		if m.FromSession != x.room.ID()+"."+seat || m.Source != "agent" {
			t.Errorf("the message is %+v", m)
		}
	}
	if n != 1 {
		t.Errorf("the room has %d messages with the text %q: %+v", n, text, x.messages(t))
	}
}
