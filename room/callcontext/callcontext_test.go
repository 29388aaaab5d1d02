package callcontext_test

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/callcontext"
)

// now is the time of the call in tests.
var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// events returns the messages as events of a room, a minute apart, the last one now.
func events(messages ...room.Message) []room.Event {
	all := make([]room.Event, len(messages))
	for i, m := range messages {
		all[i] = room.Event{Seq: int64(i + 1), At: now.Add(time.Duration(i+1-len(messages)) * time.Minute), Body: room.MessagePosted{Message: m}}
	}
	return all
}

func said(from, text string) room.Message {
	return room.Message{From: from, To: room.Broadcast, Kind: room.KindUtterance, Visibility: room.UserVisible, Text: text}
}

// newest returns the events in the order in which Build reads them.
func newest(all []room.Event) iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		for _, e := range slices.Backward(all) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// build builds the context of a call of "dba" to "coder".
func build(t *testing.T, filter string, tokens int, all []room.Event) callcontext.Result {
	t.Helper()
	f, err := endpoint.ParseContextFilter([]byte(filter))
	if err != nil {
		t.Fatal(err)
	}
	r, err := callcontext.Build(callcontext.Input{
		Filter: f, MaxTokens: tokens, Caller: "dba", Called: "coder", Person: func(id string) bool { return id == "ann" },
		Now: now, Workspace: "folder shop\n", Events: newest(all),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// texts returns the texts of the messages, separated by spaces.
func texts(r callcontext.Result) string {
	var all []string
	for _, l := range r.Lines {
		all = append(all, l.Text)
	}
	return strings.Join(all, " ")
}

// conversation has a message of every role.
func conversation() []room.Event {
	tool := said("dba", "intent")
	tool.Kind = "tool_intent"
	result := said("coder", "result")
	result.Kind = "tool_result"
	typed := said("coder", "typed")
	typed.By = "ann"
	all := events(said("host", "opening"), said("ann", "wish"), said("dba", "answer"), tool, result, said("gone", "left"), typed, said("room", "note"))
	for _, b := range []room.Body{
		room.Joined{Participant: room.Participant{ID: "new"}},
		room.SeatChanged{Participant: "new", Standing: room.Muted, Reason: "loud"},
		room.SeatTaken{Participant: "new", By: "ann"},
		room.SeatReleased{Participant: "new"},
		room.PolicyChanged{Policy: room.PolicyRef{Name: "inbox"}},
		room.Paused{Reason: "lunch"},
		room.Resumed{},
		room.Stopped{Reason: "limit"},
		room.Completed{},
		room.TurnDrafted{Message: said("dba", "draft")},
		room.PermissionAsked{Permission: room.Permission{Title: "secret"}},
		room.TurnGranted{},
		room.SummaryMade{Text: "made"},
	} {
		all = append(all, room.Event{Seq: int64(len(all) + 1), At: now, Body: b})
	}
	return all
}

// TestRoles: people, agents, tool messages and events of the room are selected by
// their roles. Without roles only people and agents are.
func TestRoles(t *testing.T) {
	all := conversation()
	const system = "note new has joined new is muted: loud ann has taken the seat of new new has its seat back the policy is inbox paused: lunch resumed stopped: limit completed"
	for filter, want := range map[string]string{
		`{}`:                             "opening wish answer left typed",
		`{"roles":null}`:                 "opening wish answer left typed",
		`{"roles":[]}`:                   "",
		`{"roles":["user"]}`:             "opening wish typed",
		`{"roles":["assistant"]}`:        "answer left",
		`{"roles":["tool"]}`:             "intent result",
		`{"roles":["system"]}`:           system,
		`{"roles":["system","tool"]}`:    "intent result " + system,
		`{"roles":["user","assistant"]}`: "opening wish answer left typed",
	} {
		r := build(t, filter, 0, all)
		if got := texts(r); got != want {
			t.Errorf("%s gives %q, want %q", filter, got, want)
		}
		if n := 8 - len(r.Lines); !strings.Contains(filter, "system") && r.LeftOut != (callcontext.LeftOut{Role: n}) {
			t.Errorf("%s leaves out %+v, want %d by role", filter, r.LeftOut, n)
		}
	}
	r := build(t, `{"roles":["user","assistant","tool","system"]}`, 0, all)
	want := []string{endpoint.RoleUser, endpoint.RoleUser, endpoint.RoleAssistant, endpoint.RoleTool, endpoint.RoleTool, endpoint.RoleAssistant, endpoint.RoleUser, endpoint.RoleSystem}
	for i, role := range want {
		if l := r.Lines[i]; l.Role != role || l.Seq != int64(i+1) {
			t.Errorf("message %d is %+v, want the role %s", i, l, role)
		}
	}
	if l := r.Lines[2]; l.From != "dba" || l.Kind != room.KindUtterance {
		t.Errorf("%+v", l)
	}
}

// TestToolsOfTheCallerAreNotGiven: without the role tool a called agent sees neither
// tool messages nor the tool calls of a turn, in no part of its context.
func TestToolsOfTheCallerAreNotGiven(t *testing.T) {
	m := said("dba", "done")
	m.Tools = []room.ToolCall{{Kind: "execute", Title: "canary"}}
	intent, result := said("dba", "canary"), said("dba", "canary")
	intent.Kind, result.Kind = "tool_intent", "tool_result"
	all := events(intent, result, m)
	for _, filter := range []string{`{}`, `{"include_summary":true}`, `{"roles":["user","assistant","system"],"include_summary":true}`, `{"last_messages":0,"include_summary":true}`, `{"keywords":["canary"],"include_summary":true}`} {
		if r := build(t, filter, 0, all); strings.Contains(fmt.Sprintf("%+v", r), "canary") {
			t.Errorf("%s gives %+v", filter, r)
		}
	}
	result.Visibility, result.To = room.Internal, "ann" // the caller itself may read what it has sent, the called agent may not
	other := said("coder", "canary")
	other.Kind, other.Visibility, other.To = "tool_result", room.Internal, "ann" // and the caller may not read this
	if r := build(t, `{"roles":["tool"]}`, 0, events(result, other)); len(r.Lines) > 0 || r.LeftOut.Private != 2 {
		t.Errorf("internal tool results give %+v", r)
	}
}

// TestAudience: a message that the caller or the called agent may not read is not
// given, and of a redacted one only the summary.
func TestAudience(t *testing.T) {
	message := func(from, to string, v room.Visibility) room.Message {
		return room.Message{From: from, To: to, Kind: "decision", Visibility: v, Text: from + ">" + to + ":" + string(v), Summary: "short", Payload: []byte(`"canary"`)}
	}
	all := events(
		message("dba", "coder", room.Internal), message("coder", "dba", room.Internal), message("ann", "dba", room.Internal), message("dba", "ann", room.Internal),
		message("ann", "coder", room.Internal), message("x", "y", room.Internal), message("x", room.Broadcast, room.Internal),
		message("x", "y", room.UserRedacted), message("dba", "y", room.UserRedacted), message("dba", "coder", room.UserRedacted), message("x", room.Broadcast, room.UserRedacted), message("x", "y", room.UserVisible),
	)
	r := build(t, `{}`, 0, all)
	want := "dba>coder:internal coder>dba:internal x>broadcast:internal short short dba>coder:user_redacted short x>y:user_visible"
	if got := texts(r); got != want || r.LeftOut.Private != 4 {
		t.Errorf("got %q and %+v, want %q", got, r.LeftOut, want)
	}
	if r = build(t, `{"last_messages":0,"include_summary":true}`, 0, all); strings.Contains(r.Summary, "x>y:internal") || strings.Contains(r.Summary, "ann") || r.LeftOut.Lines != 8 {
		t.Errorf("the summary is %q, %+v", r.Summary, r.LeftOut)
	}
	if b := fmt.Sprintf("%+v", r); strings.Contains(b, "canary") {
		t.Errorf("a payload is given: %s", b)
	}
	r, err := callcontext.Build(callcontext.Input{Events: newest(append(all, events(room.Message{Text: "canary", Visibility: room.Internal})...))})
	if err != nil || strings.Contains(texts(r), "internal ") && !strings.HasPrefix(texts(r), "x>broadcast:internal ") || strings.Contains(texts(r), "canary") {
		t.Errorf("without a caller: %q, %v", texts(r), err)
	}
}

// TestKeywordsIgnoreCaseOnBothSides is about a fault of the sub-agent note's code,
// which changed the case of the message only.
func TestKeywordsIgnoreCaseOnBothSides(t *testing.T) {
	all := events(said("ann", "the INDEX of orders"), said("ann", "Größe ΣΊΣΥΦΟΣ"), said("ann", "nothing"))
	for filter, want := range map[string]string{
		`{"keywords":["index"]}`:           "the INDEX of orders",
		`{"keywords":["InDeX"]}`:           "the INDEX of orders",
		`{"keywords":["GRÖSSE","GRÖßE"]}`:  "Größe ΣΊΣΥΦΟΣ",
		`{"keywords":["σίσυφος"]}`:         "Größe ΣΊΣΥΦΟΣ",
		`{"keywords":["absent"]}`:          "",
		`{"keywords":["index","NOTHING"]}`: "the INDEX of orders nothing",
		`{"keywords":[]}`:                  "",
	} {
		if got := texts(build(t, filter, 0, all)); got != want {
			t.Errorf("%s gives %q, want %q", filter, got, want)
		}
	}
	if r := build(t, `{"keywords":["index"]}`, 0, all); r.LeftOut.Keyword != 2 {
		t.Errorf("%+v", r.LeftOut)
	}
	if got := texts(build(t, `{"keywords":["kelvin"]}`, 0, events(said("ann", "5 \u212aELVIN")))); got == "" {
		t.Error("the sign for kelvin is no k")
	}
}

// TestNewest: the newest messages are given, in the order of the log, and a limit
// counts those that the other conditions select.
func TestNewest(t *testing.T) {
	all := events(said("ann", "a"), said("dba", "b"), said("ann", "c"), said("dba", "d"), said("ann", "e"))
	all[1].At, all[2].At = now.Add(time.Hour), now.Add(-time.Hour) // a clock that was set
	for filter, want := range map[string]string{
		`{"last_messages":2}`:                          "d e",
		`{"last_messages":9}`:                          "a b c d e",
		`{"last_messages":0}`:                          "",
		`{"last_messages":2,"roles":["user"]}`:         "c e",
		`{"last_messages":1,"keywords":["b","c"]}`:     "c",
		`{"max_age_seconds":61}`:                       "b d e",
		`{"max_age_seconds":60}`:                       "b e",
		`{"max_age_seconds":0}`:                        "b",
		`{"max_age_seconds":9223372036854775807}`:      "a b c d e",
		`{"max_age_seconds":120,"last_messages":2}`:    "d e",
		`{"max_age_seconds":3601,"roles":["user"]}`:    "a c e",
		`{"max_age_seconds":3600,"roles":["user"]}`:    "a e",
		`{"last_messages":3,"roles":["assistant"]}`:    "b d",
		`{"last_messages":1,"include_workspace":true}`: "e",
	} {
		if got := texts(build(t, filter, 0, all)); got != want {
			t.Errorf("%s gives %q, want %q", filter, got, want)
		}
	}
	if r := build(t, `{"last_messages":2,"max_age_seconds":3600,"roles":["user"]}`, 0, all); r.LeftOut != (callcontext.LeftOut{Age: 1, Role: 2}) {
		t.Errorf("%+v", r.LeftOut)
	}
	if r := build(t, `{"last_messages":2}`, 0, all); r.LeftOut != (callcontext.LeftOut{Last: 3}) {
		t.Errorf("%+v", r.LeftOut)
	}
}

// TestBudgetIsFilledFromTheNewest: the first message without room ends the context.
func TestBudgetIsFilledFromTheNewest(t *testing.T) {
	all := events(said("ann", "short"), said("ann", strings.Repeat("x", 500)), said("dba", strings.Repeat("y", 100)), said("ann", "end"))
	r := build(t, `{}`, 200, all)
	if len(r.Lines) != 2 || r.Lines[0].Seq != 3 || r.LeftOut.Budget != 2 || r.Tokens > 200 {
		t.Errorf("%d lines, %d tokens, %+v", len(r.Lines), r.Tokens, r.LeftOut)
	}
	if r = build(t, `{}`, 0, all); len(r.Lines) != 4 || r.LeftOut != (callcontext.LeftOut{}) {
		t.Errorf("the default budget gives %d lines, %+v", len(r.Lines), r.LeftOut)
	}
}

// TestLongMessageIsCut: if the newest message alone has no room it is cut between two
// characters, and the result says so.
func TestLongMessageIsCut(t *testing.T) {
	all := events(said("ann", "old"), said("ann", strings.Repeat("é\n", 5000)))
	r := build(t, `{}`, 100, all)
	if len(r.Lines) != 1 || !strings.HasSuffix(r.Lines[0].Text, "…") || !strings.HasPrefix(r.Lines[0].Text, "é\n") || !r.LeftOut.Cut || r.LeftOut.Budget != 1 {
		t.Errorf("%q, %+v", texts(r), r.LeftOut)
	}
	if r.Tokens > 100 || r.Tokens < 95 {
		t.Errorf("%d tokens", r.Tokens)
	}
	if r = build(t, `{}`, 10, all); len(r.Lines) != 0 || r.Tokens != 0 || r.LeftOut.Cut {
		t.Errorf("without room: %+v", r)
	}
}

// TestSummaryAndWorkspaceCount is about a fault of the sub-agent note's code, in which
// a summary alone could exceed the budget.
func TestSummaryAndWorkspaceCount(t *testing.T) {
	var all []room.Message
	for i := range 300 {
		all = append(all, said("ann", fmt.Sprintf("Sentence %d of this conversation. More follows here.", i)))
	}
	in := callcontext.Input{
		Filter: endpoint.ContextFilter{IncludeSummary: true, IncludeWorkspace: true}, Caller: "dba", Called: "coder", Now: now,
		Workspace: strings.Repeat("  größe.go\n", 1000),
	}
	for _, last := range []int{0, 3, 1000} {
		in.Filter.LastMessages = &last
		for tokens := 0; tokens < 2000; tokens += 1 + tokens/25 {
			in.MaxTokens, in.Events = tokens+1, newest(events(all...))
			in.Filter.IncludeWorkspace = tokens%2 == 0 || tokens < 50 && last == 3
			r, err := callcontext.Build(in)
			if err != nil || r.Tokens > tokens+1 || r.Tokens != callcontext.Tokens(r.Bytes()) {
				t.Fatalf("%d tokens of %d, %v", r.Tokens, tokens+1, err)
			}
			if !in.Filter.IncludeWorkspace && tokens > 200 && (r.Summary == "" || r.LeftOut.Lines != 1+strings.Count(r.Summary, "\n")) {
				t.Fatalf("with %d tokens the summary is %q, %+v", tokens+1, r.Summary, r.LeftOut)
			}
			if in.Filter.IncludeWorkspace && (!r.LeftOut.CutFiles || tokens > 100 && !strings.HasSuffix(r.Workspace, "…")) {
				t.Fatalf("with %d tokens the folder is %.20q", tokens+1, r.Workspace)
			}
		}
	}
}

// TestSummary: it has a line for the newest messages that are not given whole, in the
// order of the log.
func TestSummary(t *testing.T) {
	all := events(said("ann", "First. More."), said("dba", "Second\nline"), said("ann", "third"))
	r := build(t, `{"last_messages":1,"include_summary":true}`, 0, all)
	if want := "#1 ann: First. …\n#2 dba: Second …"; r.Summary != want || texts(r) != "third" || r.LeftOut != (callcontext.LeftOut{Last: 2, Lines: 2}) {
		t.Errorf("%q, %q, %+v", r.Summary, texts(r), r.LeftOut)
	}
	if r = build(t, `{"last_messages":1}`, 0, all); r.Summary != "" || r.LeftOut.Lines != 0 {
		t.Errorf("not asked for: %q", r.Summary)
	}
	if r = build(t, `{"last_messages":0,"include_summary":true}`, 40, all); !strings.HasSuffix(r.Summary, "ann: third") || r.Lines != nil || r.Tokens > 40 {
		t.Errorf("%q, %d tokens", r.Summary, r.Tokens)
	}
}

// TestWorkspace: the description is given if it is asked for.
func TestWorkspace(t *testing.T) {
	if r := build(t, `{"include_workspace":true}`, 0, nil); r.Workspace != "folder shop" || r.Tokens == 0 {
		t.Errorf("%+v", r)
	}
	if r := build(t, `{}`, 0, nil); r.Workspace != "" || r.Tokens != 0 {
		t.Errorf("%+v", r)
	}
}

// TestErrors: a budget or a filter that cannot be used is refused, and so is an error
// of the log.
func TestErrors(t *testing.T) {
	for _, tokens := range []int{-1, callcontext.MaxTokens + 1, math.MinInt, math.MaxInt} {
		if _, err := callcontext.Build(callcontext.Input{MaxTokens: tokens, Events: newest(nil)}); err == nil || !strings.Contains(err.Error(), "max_context_tokens") {
			t.Errorf("%d: %v", tokens, err)
		}
	}
	if _, err := callcontext.Build(callcontext.Input{Filter: endpoint.ContextFilter{Roles: []string{"boss"}}, Events: newest(nil)}); err == nil {
		t.Error("an unknown role is no error")
	}
	bad := errors.New("disk")
	_, err := callcontext.Build(callcontext.Input{Events: func(yield func(room.Event, error) bool) { yield(room.Event{}, bad) }})
	if !errors.Is(err, bad) {
		t.Errorf("%v", err)
	}
}

// TestUnread: a long log is read from its end, up to a bound.
func TestUnread(t *testing.T) {
	read := 0
	r, err := callcontext.Build(callcontext.Input{Events: func(yield func(room.Event, error) bool) {
		for yield(room.Event{Body: room.Resumed{}}, nil) {
			read++
		}
	}})
	if err != nil || !r.LeftOut.Unread || read != 10_000 {
		t.Errorf("%d read, %+v, %v", read, r.LeftOut, err)
	}
}
