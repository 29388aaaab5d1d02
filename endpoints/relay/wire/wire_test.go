package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// TestWireFormat compares the bodies of all messages with the text that devices
// of other releases send and read.
func TestWireFormat(t *testing.T) {
	half, after, cost := 0.5, int64(7), int64(120)
	for _, c := range []struct {
		body any
		want string
	}{
		{
			Request{
				Session: "s", Mode: "manual", You: "bob", Seats: []Seat{{ID: "bob", Name: "Bob", Kind: "remote", Role: "r", Domains: []string{"d"}, Owner: "o", Device: "v"}},
				Objective: "obj", Constraints: []string{"c"}, Summary: "sum", History: []Line{{Seq: 1, From: "a", To: "b", Own: true, Kind: "k", Text: "x"}},
				CatchUp: []Line{{From: "a", Text: "y"}}, Omitted: "om",
				Omissions: &Omissions{Spans: []Omission{{To: 3, Messages: 2, By: []Count{{"a", 2}}}}, LinesTo: 4, Unsent: 5, NoLines: true}, Hints: json.RawMessage(`{}`), Knows: "m",
				MaxOutputChars: 1, MaxHistoryTurns: 2, MaxHistoryChars: 3, MaxToolRounds: 4, AllowToolUse: true, TimeoutMS: 5,
			},
			`{"session":"s","mode":"manual","you":"bob","seats":[{"id":"bob","name":"Bob","kind":"remote","role":"r","domains":["d"],"owner":"o","device":"v"}],` +
				`"objective":"obj","constraints":["c"],"summary":"sum","history":[{"seq":1,"from":"a","to":"b","own":true,"kind":"k","text":"x"}],` +
				`"catch_up":[{"from":"a","text":"y"}],"omitted":"om",` +
				`"omissions":{"spans":[{"to":3,"messages":2,"by":[{"from":"a","messages":2}]}],"lines_to":4,"unsent":5,"no_lines":true},"hints":{},"knows":"m","max_output_chars":1,"max_history_turns":2,"max_history_chars":3,` +
				`"max_tool_rounds":4,"allow_tool_use":true,"timeout_ms":5}`,
		},
		{
			Response{Status: StatusOK, Reason: "r", Outcome: "said", Text: "x", Usage: &Usage{Input: 1, Output: 2}, Confidence: &half, Bid: &half, ToolRounds: 1, SessionID: "m"},
			`{"status":"ok","reason":"r","outcome":"said","text":"x","usage":{"input_tokens":1,"output_tokens":2},"confidence":0.5,"bid":0.5,"tool_rounds":1,"memory":"m"}`,
		},
		{
			Response{Status: StatusOK, Outcome: "said", Text: "x", Usage: &Usage{Input: 9, Output: 4, CachedInput: 8, Reasoning: 3}, Cost: &cost},
			`{"status":"ok","outcome":"said","text":"x","usage":{"input_tokens":9,"output_tokens":4,"cached_input_tokens":8,"reasoning_tokens":3},"cost_micros":120}`,
		},
		{Refusal(CodeForgot), `{"status":"error","code":"forgot"}`},
		{SideMessage{To: "a", Text: "x"}, `{"to":"a","text":"x"}`},
		{SideMessage{Number: 3, Ack: []string{"m1"}}, `{"text":"","number":3,"acks":["m1"]}`},
		{SideMessage{Number: 4, Claim: "t1"}, `{"text":"","number":4,"claim":"t1"}`},
		{
			SideMessage{Number: 5, Post: &Post{"m1", "dba", "blocker", "x", "s", `{"a":1}`, "high", true, "c", "p", "t", "internal", "idle"}},
			`{"text":"","number":5,"post":{"message_id":"m1","to":"dba","kind":"blocker","text":"x","summary":"s","payload":"{\"a\":1}","priority":"high","requires_ack":true,` +
				`"correlation_id":"c","parent_id":"p","thread_id":"t","visibility":"internal","notify":"idle"}}`,
		},
		{MessageAnswer{Number: 3, Reason: "r", Reasons: []string{"r"}}, `{"number":3,"reason":"r","reasons":["r"]}`},
		{MessageAnswer{Number: 3, Allowed: true, Receipt: `{"state":"queued"}`}, `{"number":3,"allowed":true,"receipt":"{\"state\":\"queued\"}"}`},
		{OffersQuery{Messages: true}, `{"messages":true}`},
		{Offered{Profiles: []string{"a"}}, `{"profiles":["a"]}`},
		{Offered{Profiles: []string{}, Messages: true}, `{"profiles":[],"messages":true}`},
		{
			Request{
				You: "bob", Seats: []Seat{}, Messages: true, Duty: "worker", Inbox: []Line{{From: "a", Text: "x", ID: "m1", Ack: true, For: "b"}},
				Mail: []Mail{{From: "a", For: "b", Post: Post{ID: "m1", Kind: "decision"}}},
			},
			`{"you":"bob","seats":[],"objective":"","messages":true,"duty":"worker","inbox":[{"from":"a","text":"x","message_id":"m1","ack":true,"for_agent":"b"}],` +
				`"mail":[{"from":"a","for_agent":"b","message_id":"m1","kind":"decision"}],"max_output_chars":0,"max_history_turns":0,"max_history_chars":0,"max_tool_rounds":0,"allow_tool_use":false,"timeout_ms":0}`,
		},
		{Status{State: StateThinking}, `{"state":"thinking"}`},
		{Status{State: StateRestarted}, `{"state":"anew"}`},
		{Subscribe{After: &after}, `{"after":7}`},
		{Subscribe{Last: 5}, `{"last":5}`},
		{
			Snapshot{After: 1, Through: 2, Opening: []json.RawMessage{[]byte(`{}`)}, Events: []json.RawMessage{[]byte(`{}`)}, State: RoomOver, Phase: "completed", Reason: "r"},
			`{"after":1,"through":2,"head":[{}],"events":[{}],"state":"over","phase":"completed","reason":"r"}`,
		},
		{Say{Text: "x"}, `{"text":"x"}`},
		{Reply{Status: StatusError, Code: ReplyLimit, RetryMS: 3}, `{"status":"error","code":"limit","retry_ms":3}`},
	} {
		if got := string(Body(c.body)); got != c.want {
			t.Errorf("%T is\n%s, want\n%s", c.body, got, c.want)
		}
	}
}

// TestPromptRoundTrip checks that a prompt survives the wire, that only the
// agent's own seat is of the same owner on the other device, and that the profile
// there names it.
func TestPromptRoundTrip(t *testing.T) {
	left := endpoint.Omitted{Spans: []endpoint.Omission{{To: 3, Messages: 2, By: []endpoint.Count{{From: "ann", Messages: 2}}}}, LinesTo: 4, Unsent: 1, NoLines: true}
	p := endpoint.Prompt{
		You: endpoint.Seat{ID: "bob", Name: "The host's name for it", SameOwner: true, Owner: "x"}, Seats: []endpoint.Seat{{ID: "ann", SameOwner: true}},
		Objective: "o", Hints: []byte("not JSON"), CatchUp: []endpoint.Line{{Seq: 1, From: "ann", Text: "hello"}}, MaxOutputChars: 10, Timeout: time.Second, Omitted: left,
	}
	q := RequestOf(p)
	if err := q.Check(); err != nil {
		t.Fatal(err)
	}
	got := q.Prompt("reviewer", nil)
	if got.Objective != "o" || got.Timeout != time.Second || len(got.CatchUp) != 1 || got.CatchUp[0] != p.CatchUp[0] || got.Hints != nil {
		t.Errorf("got %+v", got)
	}
	if !reflect.DeepEqual(got.Omitted, left) {
		t.Errorf("left out is %+v", got.Omitted)
	}
	if !got.You.SameOwner || got.You.Owner != "" || got.You.Name != "reviewer" || got.Seats[1].Name != "reviewer" || len(got.Seats) != 2 || got.Seats[0].SameOwner {
		t.Errorf("the seats are %+v, and the agent's is %+v", got.Seats, got.You)
	}
}

// TestErrorCodes checks that the error of each code leads back to the code, and
// that an unknown code is an error of the agent.
func TestErrorCodes(t *testing.T) {
	for _, code := range []string{CodeDenied, CodeLimit, CodeInterrupted, CodeTimeout, CodeExited, CodeTooLarge, CodeProtocol, CodeAgent} {
		if got := CodeOf(fmt.Errorf("x: %w", ErrorOf(code, "reason"))); got != code {
			t.Errorf("the error of %s has the code %s", code, got)
		}
	}
	if got := CodeOf(errors.Join(endpoint.ErrExited, endpoint.ErrInterrupted)); got != CodeRestarts {
		t.Errorf("a restarted agent has the code %s", got)
	}
	if err := ErrorOf("other", ""); !errors.Is(err, endpoint.ErrAgent) {
		t.Errorf("an unknown code: %v", err)
	}
}
