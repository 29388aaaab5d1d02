package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/inbox"
)

// curious puts a form to its owner in each turn, and says what was filled in.
type curious struct{}

func (curious) Close() error { return nil }

func (curious) Speak(ctx context.Context, _ moot.Prompt, f moot.Floor) (moot.Reply, error) {
	a, err := f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalPermission, Permission: &endpoint.Permission{
		ID: "q", Kind: endpoint.ActionQuestion, Title: "Which?", Question: &endpoint.Question{Message: "Which?", Fields: []endpoint.Field{
			{Name: "one", Type: endpoint.FieldString, Required: true, Options: []endpoint.Option{{Value: "a"}, {Value: "b"}}},
			{Name: "parts", Type: endpoint.FieldInteger},
		}},
	}})
	return moot.Reply{Outcome: moot.Said, Text: "filled in: " + string(a.Body)}, err
}

// TestQuestion: a question is listed with its form for callers with control, and
// answered once with values that fit.
func TestQuestion(t *testing.T) {
	s := serveAgent(t, curious{})
	next := s.lines(t, "page", "application/x-ndjson")
	var c inbox.Change
	if err := json.Unmarshal([]byte(next()), &c); err != nil || c.Item == nil {
		t.Fatal(err)
	}
	x := c.Item
	if x.ID != s.room.ID()+"/1.1" || x.Kind != inbox.Question || x.Permission != nil || x.Question.Message != "Which?" || x.Question.Fields[0].Options[1].Value != "b" {
		t.Errorf("there waits %+v", x)
	}
	path := "/api/inbox/" + x.ID + "/answer"
	answer := func(caller string, a inbox.Answer) string {
		err := s.as(caller).Call(t.Context(), http.MethodPost, path, a, nil)
		if err == nil {
			return ""
		}
		return codeOf(err)
	}
	fits := map[string]any{"one": "b", "parts": 3}
	for _, r := range []struct {
		caller string
		a      inbox.Answer
		code   string
	}{
		{"page", inbox.Answer{Answer: inbox.Approve}, "ROOM-VALUES"},
		{"page", inbox.Answer{Answer: inbox.Approve, Values: map[string]any{"one": "c"}}, "ROOM-VALUES"},
		{"page", inbox.Answer{Answer: inbox.Approve, Values: map[string]any{"one": "a", "two": "a"}}, "ROOM-VALUES"},
		{"page", inbox.Answer{Answer: inbox.Always, Values: fits}, "ROOM-PERMISSION"},
		{"page", inbox.Answer{Answer: inbox.Edit, Text: "x"}, "INBOX-ANSWER"},
		{"spectator", inbox.Answer{Answer: inbox.Approve, Values: fits}, "API-FORBIDDEN"},
		{"agent", inbox.Answer{Answer: inbox.Approve, Values: fits}, "API-FORBIDDEN"},
		{"else", inbox.Answer{Answer: inbox.Approve, Values: fits}, "API-FORBIDDEN"},
		{"seat", inbox.Answer{Answer: inbox.Approve, Values: fits}, "ROOM-DENIED"},
		{"page", inbox.Answer{Answer: inbox.Approve, Values: fits}, ""},
		{"", inbox.Answer{Answer: inbox.Reject}, "ROOM-ANSWERED"},
	} {
		if got := answer(r.caller, r.a); got != r.code {
			t.Errorf("%q answers %+v: %q, want %q", r.caller, r.a, got, r.code)
		}
	}
	if text := next(); !strings.Contains(text, `"ended":{"id":"`+x.ID+`"`) || !strings.Contains(text, `"what":"filled in"`) {
		t.Errorf("it has ended with %s", text)
	}
	if err := json.Unmarshal([]byte(next()), &c); err != nil || c.Item.Kind != inbox.Draft || c.Item.Text != `filled in: {"one":"b","parts":3}` {
		t.Errorf("then there waits %+v, %v", c.Item, err)
	}
}
