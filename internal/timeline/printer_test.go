package timeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/plan"
	"github.com/rivo/uniseg"
)

// story returns every kind of event that is shown, in a possible order.
func story() []room.Event {
	who := func(id, name, kind, owner string) room.Body {
		return room.Joined{Participant: room.Participant{ID: id, Name: name, Kind: kind, Owner: owner}}
	}
	said := func(turn int, from, text string) room.MessagePosted {
		return room.MessagePosted{Turn: turn, Message: room.Message{From: from, To: room.Broadcast, Text: text}, Latency: 1234 * time.Millisecond, Auto: true}
	}
	confident := said(1, "code", "The migration adds a column.\n\n  - one\n  - two, which is rather longer than the others and has to be wrapped\n\nThat is all.")
	confident.Usage = room.Usage{Known: true, Input: 12_000, Output: 345}
	confident.Message.ToolRounds = 2
	confident.Message.Tools, confident.Message.ToolsMore = []room.ToolCall{{Kind: "read", Title: "Read db/migrations/0042.sql\x1b[2J"}, {Kind: "search", Paths: []string{"db", "src"}}}, 7
	hostile := said(4, "sec", "A\x1b[2J\x1b]0;title\aB \u202etxt.exe\u202c 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字 "+strings.Repeat("x", 130))
	private := room.MessagePosted{Message: room.Message{From: "me", To: "code", Text: "psst", Visibility: room.Internal}}
	called := room.MessagePosted{Message: room.Message{From: "host", To: "code", Text: "Results: 42", Source: room.SourceAgent, FromSession: "r_2.agent\x1b[2J"}}
	applet := room.MessagePosted{Message: room.Message{From: "host", To: "code", Text: "ping", Source: room.SourceApplet}}
	typed := room.MessagePosted{Turn: 6, Message: room.Message{From: "dba", To: room.Broadcast, Text: "I type this myself.", By: "me"}}
	type line struct {
		actor string
		body  room.Body
	}
	var events []room.Event
	for i, l := range []line{
		{"host", room.Opened{Spec: room.Spec{Room: "r_1", Name: "review", Objective: "Decide whether the orders table can be split before Friday, and what has to happen first.", Policy: room.PolicyRef{Name: "mention", Version: "1.0.0"}, Limits: room.Limits{MaxTurns: 12}}}},
		{"host", who("code", "Codebase", policy.Local, "")},
		{"host", who("dba", "", policy.Local, "")},
		{"host", who("sec", "Security", policy.Remote, "Globex")},
		{"host", who("me", "Michael", policy.Human, "")},
		{"host", room.Claimed{Owner: "h:1"}},
		{"me", room.MessagePosted{Message: room.Message{From: "me", To: room.Broadcast, Text: "Begin, please."}}},
		{"policy", room.TurnGranted{Turn: 1, Participant: "code", Reason: "you addressed nobody, and Codebase comes first in the roster of this room", Tokens: 400}},
		{"code", confident},
		{"policy", room.RoundDeclined{Reason: "nobody was addressed"}},
		{"policy", room.RoundDeclined{Reason: "nothing new was said"}},
		{"policy", room.TurnGranted{Turn: 2, Participant: "dba", Tokens: 100}},
		{"dba", room.TurnDrafted{Turn: 2, Draft: "h1", Why: "manual", Message: room.Message{From: "dba", Text: "A draft that is long enough to be wrapped in most terminals, for what is not yet said is behind a bar.\n\nEnd."}}},
		{"me", room.TurnEdited{Turn: 2, Draft: "h2", Text: "A better draft."}},
		{"me", room.TurnApproved{Turn: 2, Draft: "h2"}},
		{"me", room.MessagePosted{Turn: 2, Message: room.Message{From: "dba", To: room.Broadcast, Text: "A better draft."}}},
		{"policy", room.TurnGranted{Turn: 3, Participant: "dba", Reason: "again", Tokens: 100}},
		{"dba", room.TurnDrafted{Turn: 3, Draft: "h3", Why: `contains "drop"`, Message: room.Message{From: "dba", Text: "drop it"}}},
		{"me", room.TurnRejected{Turn: 3, Draft: "h3", Reason: "too risky"}},
		{"policy", room.TurnGranted{Turn: 4, Participant: "sec", Tokens: 100}},
		{"sec", hostile},
		{"me", private},
		{"host", called},
		{"host", applet},
		{"policy", room.TurnGranted{Turn: 5, Participant: "code", Tokens: 100}},
		{"me", room.SeatTaken{Participant: "dba", By: "me"}},
		{"code", room.TurnFailed{Turn: 5, Code: "timeout", Error: "no answer within 1m0s"}},
		{"sec", room.SeatFailed{Participant: "sec", Code: "exited", Error: "the agent's process has ended: exit status 1\nits last words:\nTraceback (most recent call last):\n  File \"sec.py\", line 5, in <module>\n    answer(line)\nKeyError: 'draft\x1b[2K_message'"}},
		{"me", room.TurnGranted{Turn: 6, Participant: "dba", Reason: "chosen by me"}},
		{"me", typed},
		{"me", room.SeatReleased{Participant: "dba"}},
		{"policy", room.TurnGranted{Turn: 7, Participant: "sec"}},
		{"sec", room.TurnPassed{Turn: 7, Reason: "nothing to add"}},
		{"sec", room.Violation{Participant: "sec", Code: "duplicate", Detail: "a second answer", Count: 1}},
		{"policy", room.TurnGranted{Turn: 8, Participant: "code"}},
		{"code", room.TurnFailed{Turn: 8, Code: "exited", Error: "the agent's process has ended: exit status 1\nits last words:\nTraceback (most recent call last):\n  File \"code.py\", line 3, in answer\n    return {}[\"draft_message\"]\nKeyError: 'draft_message'"}},
		{"room", room.SeatChanged{Participant: "sec", Standing: room.Suspended, Reason: "3 failures in a row"}},
		{"me", room.PolicyChanged{Policy: room.PolicyRef{Use: "roundrobin", Name: "roundrobin", Version: "1.0.0"}}},
		{"me", room.LimitsChanged{}},
		{"policy", room.TurnGranted{Turn: 8, Participant: "code"}},
		{"code", room.PermissionAsked{Turn: 8, Participant: "code", ID: "8.1", Permission: room.Permission{Kind: "execute", Command: "go test ./... \x1b[2K", Argv: []string{"go", "test", "./..."}, Paths: []string{"a.go"}, Title: "run the tests", Detail: "{\n}"}}},
		{"me", room.PermissionAnswered{Turn: 8, Participant: "code", ID: "8.1", Allowed: true, Always: true, By: "me"}},
		{"code", room.PermissionAsked{Turn: 8, Participant: "code", ID: "8.2", Permission: room.Permission{Kind: "fetch"}}},
		{"code", room.PermissionAsked{Turn: 8, Participant: "code", ID: "8.3", Permission: room.Permission{Kind: "edit", Diffs: []endpoint.Diff{
			{Path: "a.go", Old: "one\ntwo\nthree\n", New: "one\nTWO \x1b[2K\nthree\n"}, {Path: "b.go", New: "new\nfile"}, {Path: "c.go", Old: "x\n"},
		}}}},
		{"room", room.PermissionAnswered{Turn: 8, Participant: "code", ID: "8.2", By: "cancelled", Reason: "the turn was interrupted: paused"}},
		{"me", room.TurnInterrupted{Turn: 8, Reason: "paused"}},
		{"me", room.Paused{Cause: room.CausePerson, Code: "me", Reason: "paused by me"}},
		{"code", room.ReplyLate{Turn: 8, Participant: "code", Bytes: 12}},
		{"host", room.Resumed{}},
		{"me", room.Redacted{Target: 9, Reason: "a key"}},
		{"dba", room.SummaryMade{By: "dba"}},
		{"policy", room.Paused{Cause: room.CausePolicy, Code: "run.trap", Reason: `policy "x" failed: out of bounds`}},
		{"host", room.Claimed{Owner: "h:2", Restart: true}},
	} {
		events = append(events, room.Event{Seq: int64(i + 1), Actor: l.actor, Body: l.body})
	}
	for _, b := range work() {
		events = append(events, room.Event{Seq: int64(len(events) + 1), Actor: "room", Body: b})
	}
	for _, l := range []line{
		{"me", room.Stopped{Cause: room.CausePerson, Name: "me", Reason: "stopped by me"}},
		{"room", room.Stopped{Cause: room.CauseLimit, Name: "maxTurns", Reason: "limit maxTurns: 12 turns granted"}},
		{"room", room.Completed{Cause: room.CauseSettled, Reason: "3 rounds declined in a row: nothing new was said"}},
		{"room", room.Completed{Cause: room.CauseSettled, Reason: "nobody is eligible; dba is suspended for its failures", Degraded: true}},
		{"policy", room.Completed{Cause: room.CauseFinish, Reason: "all have agreed"}},
		{"me", room.Completed{Cause: room.CausePerson, Reason: "good enough"}},
		{"room", room.Errored{Code: "ROOM-NOBODY", Reason: "no seat can speak"}},
	} {
		events = append(events, room.Event{Seq: int64(len(events) + 1), Actor: l.actor, Body: l.body})
	}
	return events
}

// work returns the events of agents that work for each other.
func work() []room.Body {
	call := func(id, caller, agent, task string, depth int) room.CallStarted {
		return room.CallStarted{Call: calls.Call{ID: id, Caller: caller, Agent: agent, Task: task, Depth: depth, State: calls.Submitted}}
	}
	typed := func(kind, from, to, text, summary, payload string) room.Message {
		return room.Message{ID: "m1", Kind: kind, From: from, To: to, Text: text, Summary: summary, Payload: policy.JSON(payload), Visibility: room.Internal}
	}
	brief := typed("intent_brief", "code", "dba", "Add the column.", "One column", `{"tasks":[{"id":"t1"}],"task":"t1","n":7,"intent":{"objective":"x"},"why":"a long text \u001b[2J that is cut after forty columns, so that it stays short"}`)
	brief.RequiresAck, brief.Priority = true, "urgent"
	return []room.Body{
		room.MessagePosted{Message: brief, Auto: true},
		room.PlanChanged{Participant: "code", Message: "m1", Change: plan.Change{
			Intent: &plan.Intent{Version: 1, Objective: "Split the table"},
			Tasks:  []plan.Task{{ID: "t1", Title: "Add the column", Owner: "dba", State: plan.Submitted}, {ID: "t2", Title: "Fill it", State: plan.Submitted, After: []string{"t1"}}},
		}},
		room.PlanChanged{Participant: "dba", Change: plan.Change{Proposed: &plan.Proposal{ID: "m2", From: "dba", Tasks: []plan.Patch{{ID: "t3"}}}}},
		room.PlanChanged{Participant: "code", Change: plan.Change{Accepted: []string{"m2"}}},
		room.PlanChanged{Participant: "dba", Change: plan.Change{Checks: []plan.Check{{ID: "m9"}}}}, // the message has it
		room.MessagePosted{Message: typed("result_bundle", "dba", "code", "", "The column is there", `{"sha256":"`+strings.Repeat("ab", 32)+`","bytes":9000}`), Auto: true},
		room.MessagePosted{Message: typed("status_reply", "dba", "code", "", "", `{"a":1}`), Auto: true, HeldUntil: time.Minute, Held: "over 6 messages a minute from dba to code"},
		room.MessageReleased{Message: "m3", Target: 60, Participant: "code"},
		room.AckMissed{Message: "m1", Target: 58, Participant: "dba", Attempt: 1},
		room.MessageDead{Message: brief, Target: 58, Participant: "dba", Code: "ROOM-ACK-MISSED", Reason: "never acknowledged"},
		room.MessageDead{Message: typed("decision", "dba", "code", "I decide \x1b[2J", "", ""), Code: "ROOM-KIND", Reason: "a message of the kind decision is from manager"},
		room.MessageDead{Message: typed("nonsense", "dba", room.Broadcast, "", "", ""), Code: "ROOM-KIND", Reason: `no kind of messages "nonsense"`},
		room.HandoffAsked{Turn: 9, From: "code", To: "dba", Reason: "it is about the index"},
		room.HandoffAsked{Turn: 9, From: "code", To: "zoe", Refused: "there is no participant zoe"},
		call("c1", "code", "dba", "Check the index of the table of orders, with password=hunter2hunter2 and care", 1),
		call("c2", "dba", "tester", "Test it \x1b[2J", 2),
		room.CallChanged{Call: "c2", State: calls.Working},
		room.CallChanged{Call: "c2", State: calls.InputRequired, Asked: "dba", Text: "Which one?"},
		room.CallChanged{Call: "c2", State: calls.InputRequired, Asked: "dba", Text: "Which one?", WaitUntil: 7},
		room.CallChanged{Call: "c2", State: calls.InputRequired, Asked: calls.Owner},
		room.CallChanged{Call: "c2", State: calls.AuthRequired},
		room.CallChanged{Call: "c2", State: calls.Working, Canceling: "the room of its caller has ended"},
		room.CallChanged{Call: "c9", State: calls.Working},
		room.CallEnded{Call: "c2", State: calls.Canceled, Result: calls.Result{Agent: "tester", Tokens: 30, Estimated: true, Duration: 12.2}},
		room.CallEnded{Call: "c1", State: calls.Completed, Result: calls.Result{Agent: "dba", Success: true, Tokens: 12_345, Duration: 3.4, Tools: []string{"read", "search\x1b[2J"}}},
		room.CallEnded{Call: "c8", State: calls.Failed, Result: calls.Result{Agent: "dba", Errors: []string{"the agent's process has ended: token=abcdef12345", "more"}, Duration: 0.05}},
	}
}

func shownAt(s Style, you string) string {
	p := &Printer{Style: s, You: you, Badge: "DEMO"}
	var b strings.Builder
	for _, e := range story() {
		b.WriteString(p.Event(e))
	}
	return b.String()
}

// TestPrinter compares with goldens; UPDATE_GOLDEN=1 rewrites them.
func TestPrinter(t *testing.T) {
	for _, width := range []int{32, 80} {
		got := shownAt(Style{Width: width}, "me")
		file := filepath.Join("testdata", fmt.Sprintf("story-%d.txt", width))
		if os.Getenv("UPDATE_GOLDEN") != "" {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("at %d columns:\n%s\nwant:\n%s", width, got, want)
		}
	}
}

// TestPrinterFits checks that no line is wider than the terminal or contains
// control characters.
func TestPrinterFits(t *testing.T) {
	for width := minWidth; width <= maxWidth; width += 7 {
		for line := range strings.Lines(shownAt(Style{Width: width}, "")) {
			line = strings.TrimSuffix(line, "\n")
			if w := uniseg.StringWidth(line); w > width {
				t.Errorf("at %d columns a line has %d: %q", width, w, line)
			}
			if strings.ContainsAny(line, "\x1b\a\u202e") {
				t.Errorf("a line controls the terminal: %q", line)
			}
		}
	}
}

// TestPrinterColour checks that colours only add escape sequences.
func TestPrinterColour(t *testing.T) {
	coloured := shownAt(Style{Width: 80, Color: true}, "me")
	var plain strings.Builder
	for rest := coloured; rest != ""; {
		head, tail, found := strings.Cut(rest, "\x1b[")
		plain.WriteString(head)
		if rest = ""; found {
			_, rest, _ = strings.Cut(tail, "m")
		}
	}
	if want := shownAt(Style{Width: 80}, "me"); plain.String() != want {
		t.Errorf("without its colours it is\n%s\nwant\n%s", plain.String(), want)
	}
	if strings.Count(coloured, "\x1b[0m")*2 != strings.Count(coloured, "\x1b[") {
		t.Error("a colour is not ended")
	}
}

// TestDeclinedAgain: bids between two declined rounds are not shown, and do not
// make the second a first one. A message does.
func TestDeclinedAgain(t *testing.T) {
	p := &Printer{}
	var got strings.Builder
	for i, b := range []room.Body{
		room.RoundDeclined{Reason: "no bid"},
		room.BidPosted{Participant: "dba"},
		room.RoundDeclined{Reason: "no bid"},
		room.MessagePosted{Message: room.Message{From: "me", Text: "go on"}},
		room.RoundDeclined{Reason: "no bid"},
	} {
		got.WriteString(p.Event(room.Event{Seq: int64(i + 1), Actor: "policy", Body: b}))
	}
	first, rest, _ := strings.Cut(got.String(), "declined again, 2 rounds in a row: no bid")
	second, _, _ := strings.Cut(rest, "round declined: no bid")
	if !strings.Contains(first, "round declined: no bid") || !strings.Contains(second, "go on") || strings.Contains(rest, "again") {
		t.Errorf("the timeline is\n%s", got.String())
	}
}

// TestUsed prints what agents have stated of their turns, and what is estimated.
func TestUsed(t *testing.T) {
	p := &Printer{}
	all := room.Usage{Known: true, Input: 12_000, Output: 345, CachedInput: 11_000, Reasoning: 300, CostKnown: true, Cost: 34_000}
	for i, c := range []struct {
		body room.Body
		want string
	}{
		{room.MessagePosted{Turn: 1, Usage: all}, "12k tokens (11k cached, 300 reasoning) · cost 0.034"},
		{room.MessagePosted{Turn: 1, Usage: room.Usage{CostKnown: true, Cost: 20_000}, Message: room.Message{Text: "four"}}, "~101 tokens · cost 0.02"},
		{room.MessagePosted{Turn: 1, Usage: room.Usage{Known: true, Input: -1}, Message: room.Message{Text: "four"}}, "~101 tokens"},
		{room.MessagePosted{Turn: 1}, "~100 tokens"},
		{room.TurnPassed{Turn: 1, Usage: all}, "local · 12k tokens"},
		{room.TurnFailed{Turn: 1, Code: "agent", Usage: room.Usage{CostKnown: true, Cost: 20_000}}, "local · cost 0.02"},
	} {
		p.Event(room.Event{Body: room.Joined{Participant: room.Participant{ID: "a", Kind: policy.Local}}})
		p.Event(room.Event{Body: room.TurnGranted{Turn: 1, Participant: "a", Tokens: 100}})
		if m, ok := c.body.(room.MessagePosted); ok {
			m.Message.From = "a"
			c.body = m
		}
		first, _, _ := strings.Cut(p.Event(room.Event{Body: c.body}), "\n")
		if !strings.Contains(first, c.want) {
			t.Errorf("%d: %q, want %q in it", i, first, c.want)
		}
	}
}

// TestCallsBelow: the calls that a called agent has made are shown under its own, once it
// has returned, also those of a call that began before the printer.
func TestCallsBelow(t *testing.T) {
	reads := 0
	at := func(depth int, id, caller, agent, room string, below int) calls.Call {
		return calls.Call{ID: id, Caller: caller, Agent: agent, Room: room, Depth: depth, Task: "do it", State: calls.Completed, Result: &calls.Result{Agent: agent, Success: true, Calls: below}}
	}
	p := &Printer{Below: func(room string) []calls.Call {
		reads++
		switch room {
		case "r_2":
			return []calls.Call{at(2, "c1", "dba", "tester", "r_3", 1), {ID: "c3", Caller: "dba", Agent: "slow", Depth: 2, State: calls.Working}}
		case "r_3":
			return []calls.Call{at(3, "c1", "tester", "runner", "r_4", 0)}
		}
		t.Errorf("the calls of %s are read", room)
		return nil
	}}
	p.Recall(&room.State{Calls: []calls.Call{at(1, "c1", "lead", "dba", "r_2", 2)}})
	want := `  ── dba calling tester: do it

    ── tester calling runner: do it

    ── runner returned: SUCCESS (0 tokens, 0 s)

  ── tester returned: SUCCESS (0 tokens, 0 s)

  ── dba calling slow

── dba returned: SUCCESS (0 tokens, 0 s)

`
	for range 2 {
		got := p.Event(room.Event{Body: room.CallEnded{Call: "c1", State: calls.Completed, Result: calls.Result{Agent: "dba", Success: true, Calls: 2}}})
		if got != want || reads != 2 {
			t.Errorf("%d reads\n%s", reads, got)
		}
		p.keepCall(at(1, "c1", "lead", "dba", "r_2", 2))
	}
	if got := p.Event(room.Event{Body: room.CallEnded{Call: "c9", Result: calls.Result{Agent: "dba", Success: true, Calls: 2}}}); strings.Contains(got, "calling") {
		t.Errorf("a call of an unknown room:\n%s", got)
	}
}
