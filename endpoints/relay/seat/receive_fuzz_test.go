package seat

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// FuzzBodies reads arbitrary bodies of another device as requests, responses and
// heartbeats. Each is refused or within its bounds.
func FuzzBodies(f *testing.F) {
	p := prompt("req_1", "hello")
	p.Hints = []byte(`{"a":[1]}`)
	half := 0.5
	q := wire.RequestOf(p)
	q.Knows = "m1"
	typed := wire.RequestOf(mailed("req_1"))
	typed.AddMessages(mailed("req_1"))
	for _, v := range []any{
		q, typed,
		wire.SideMessage{Number: 1, Claim: "t1"},
		wire.SideMessage{Number: 2, Ack: []string{"m1"}},
		wire.SideMessage{Number: 3, Post: &wire.Post{ID: "m1", Kind: "blocker", Text: "x", Payload: `{"a":1}`}},
		wire.MessageAnswer{Number: 1, Reason: "no", Reasons: []string{"", "no"}},
		wire.Offered{Profiles: []string{"a"}, Messages: true},
		wire.Response{Status: wire.StatusOK, Outcome: endpoint.Said, Text: "yes", Usage: &wire.Usage{Input: 1, Output: 2}, Confidence: &half, SessionID: "m1"},
		wire.Response{Status: wire.StatusError, Code: wire.CodeForgot, Reason: "gone"},
		wire.Response{Status: wire.StatusOK, Bid: &half},
		wire.SideMessage{To: "you", Text: "psst"},
		wire.Status{State: wire.StateThinking},
		wire.Status{State: wire.StateRestarted},
		wire.Status{},
	} {
		f.Add([]byte(wire.Body(v)))
	}
	f.Add([]byte(`{"state":"thinking","state":"anew"}`))
	f.Add([]byte(`{"State":"thinking"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e := envelope.Envelope{ID: "req_1", Type: envelope.TurnResponse, Body: b}
		var q wire.Request
		if e.DecodeBody(&q) == nil && q.Check() == nil {
			if got := q.Prompt("theirs", known); got.Timeout < 0 || got.Timeout > 24*time.Hour || !got.You.SameOwner || got.You.Owner != "" || len(q.Knows) > wire.MaxSessionID {
				t.Errorf("a request asks %+v", got)
			}
		}
		r := read(p, e)
		if n := utf8.RuneCountInString(r.Reply.Text); n > p.MaxOutputChars || len(r.sessionID) > wire.MaxSessionID && r.violation == nil && r.Err == nil {
			t.Errorf("an answer of %d characters with the session id %q", n, r.sessionID)
		}
		if r.violation == nil && r.Err == nil && r.Reply.Outcome == "" {
			t.Errorf("an answer without an outcome: %+v", r)
		}
		checkMessages(t, e)
		var s wire.Status
		if e.DecodeBody(&s) == nil {
			again, err := json.Marshal(s)
			if err != nil || !utf8.Valid(again) {
				t.Errorf("a status that cannot be written: %q, %v", s.State, err)
			}
		}
	})
}

// checkMessages checks that a message that passes its check is within its bounds, and
// that an answer is one line.
func checkMessages(t *testing.T, e envelope.Envelope) {
	t.Helper()
	var m wire.SideMessage
	if e.DecodeBody(&m) == nil && m.Number != 0 && m.Check(20) == nil {
		if len(m.Ack) > 100 || len(m.Claim) > 128 || m.Post != nil && (utf8.RuneCountInString(m.Post.Text) > 20 || m.Post.Payload != "" && !json.Valid([]byte(m.Post.Payload))) {
			t.Errorf("a message out of its bounds: %s", e.Body)
		}
	}
	var a wire.MessageAnswer
	if e.DecodeBody(&a) == nil {
		got := a.Answer(1)
		if strings.ContainsAny(got.Reason, "\n\x1b") || len(got.Reasons) > 1 {
			t.Errorf("the answer %+v", got)
		}
	}
}

// FuzzMessages decodes arbitrary messages of another device.
func FuzzMessages(f *testing.F) {
	for _, s := range []string{
		`{"v":1,"id":"a","type":"turn.request","profile":"theirs","room":"r","epoch":1,"turn":1,"body":{"you":"x","seats":[],"objective":"","max_output_chars":1,"max_history_turns":0,"max_history_chars":0,"max_tool_rounds":0,"allow_tool_use":false,"timeout_ms":1}}`,
		`{"v":1,"id":"a","type":"turn.response","body":{"status":"ok","outcome":"said","text":"x"}}`,
		`{"v":1,"id":"a","type":"message","body":{"text":"x"}}`, `{}`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := prompt("a", "x")
		e, err := envelope.Decode(b)
		if err != nil {
			return
		}
		if r := read(p, e); r.Err == nil && utf8.RuneCountInString(r.Reply.Text) > p.MaxOutputChars {
			t.Error("an answer over the limit")
		}
		var q wire.Request
		if e.DecodeBody(&q) == nil && q.Check() == nil {
			_ = endpoint.Rendered(q.Prompt("theirs", known))
		}
	})
}
