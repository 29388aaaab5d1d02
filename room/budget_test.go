package room_test

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/budget"
	"github.com/folkmoot/moot/room/calls"
	"pgregory.net/rapid"
)

// TestBudgetProperties gives random commands to a room whose seats have budgets. No
// agent gets a turn past its budget, each turn of an agent is charged to the ledger once,
// and the fold of the stored log is the live state.
func TestBudgetProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := &script{}
		budgets := func(name string) string {
			figures := rapid.SampledFrom([]string{"tokens", "turns", "toolCalls"})
			out := ""
			for _, window := range []string{"hour", "day", "room"} {
				if rapid.Bool().Draw(rt, name+" "+window) {
					out += fmt.Sprintf("/budget:%s.%s:%d", window, figures.Draw(rt, "figure"), rapid.SampledFrom([]int{1, 2, 5, 25, 60}).Draw(rt, "limit"))
				}
			}
			return out
		}
		mode := rapid.SampledFrom([]string{"", "/manual"})
		lines := []string{
			"open a" + mode.Draw(rt, "mode") + budgets("a") + " b" + budgets("b") + " c/session" + budgets("c") + " me/human maxDuration=1000h maxTurns=1000 maxFailures=9", "claim",
		}
		lines = append(lines, rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) string {
			if rapid.IntRange(0, 2).Draw(rt, "about") == 0 {
				return rapid.SampledFrom([]string{"measure", "measure", "measure 12", "elsewhere a tokens=20", "elsewhere b tokens=3 toolCalls=4", "prompt 30", "prompt 5", "wait 30m", "wait 24h", "usage in=6 out=2"}).Draw(rt, "budget")
			}
			return command(rt)
		}), 1, 60).Draw(rt, "commands")...)
		c := &budgetCheck{turns: map[string]int{}, ended: map[string]bool{}}
		for _, line := range lines {
			if strings.HasPrefix(line, "me: stop") || strings.HasPrefix(line, "complete") || strings.HasPrefix(line, "limits") {
				continue // a room that has ended tests nothing
			}
			before := clone(t, s.log)
			n := len(s.log)
			s.line(t, new(strings.Builder), line)
			if t.Failed() {
				rt.Fatal(line)
			}
			for _, e := range s.log[n:] {
				if why := before.Follows(e); why != "" && e.Seq > 1 {
					rt.Fatalf("%s: event %d does not follow: %s", line, e.Seq, why)
				}
				if why := c.check(&before, e); why != "" {
					rt.Fatalf("%s: event %d: %s", line, e.Seq, why)
				}
				before.Apply(e)
			}
		}
		charged := map[string]int{}
		for _, x := range s.ledger {
			if charged[x.ID]++; x.ID != "elsewhere" && (charged[x.ID] > 1 || !c.ended[x.ID]) {
				rt.Fatalf("%+v is charged %d times, and its turn has ended: %t", x, charged[x.ID], c.ended[x.ID])
			}
		}
		for id := range c.ended {
			if charged[id] != 1 {
				rt.Fatalf("request %s is charged %d times", id, charged[id])
			}
		}
		if folded := clone(t, s.log); !reflect.DeepEqual(folded, s.state) {
			rt.Fatal("the fold of the log is not the live state")
		}
	})
}

// A budgetCheck counts turns on its own.
type budgetCheck struct {
	turns map[string]int
	ended map[string]bool // requests of seats with an hour or a day whose work has ended
}

// check says why e breaks a budget; s is the state before it.
func (c *budgetCheck) check(s *room.State, e room.Event) string {
	if g, ok := e.Body.(room.TurnGranted); ok {
		x, _ := s.Seat(g.Participant)
		c.turns[x.ID]++
		limits := x.Budget.Room
		switch {
		case x.TakenBy != "":
		case limits.Turns > 0 && int64(c.turns[x.ID]) > limits.Turns:
			return "turn " + strconv.Itoa(c.turns[x.ID]) + " of " + x.ID
		case limits.Tokens > 0 && x.Spent+g.Tokens > limits.Tokens:
			return "a prompt that passes the tokens of the room"
		default:
			for _, m := range x.Budgets {
				if m.Level == budget.Used {
					return x.ID + " was told to have used " + m.Text()
				}
			}
		}
	}
	t := s.Turn
	if t == nil || t.Draft != nil {
		return ""
	}
	x, _ := s.Seat(t.Participant)
	ends := false
	switch b := e.Body.(type) {
	case room.TurnDrafted, room.TurnPassed, room.TurnFailed, room.TurnInterrupted:
		ends = true
	case room.MessagePosted:
		ends = b.Turn == t.Number
	}
	if ends && x.TakenBy == "" && (x.Budget.Hour != room.Amounts{} || x.Budget.Day != room.Amounts{}) {
		c.ended[t.Request] = true
	}
	return ""
}

// TestBudgetView checks what people are told of a seat that has used its budget, and that
// marks which fit no seat or window are left out.
func TestBudgetView(t *testing.T) {
	b := opened(t, "a/budget:hour.turns:2 b me/human")
	mark := room.BudgetMark{Window: budget.Hour, Level: budget.Used, What: "turns", Used: 2, Limit: 2, Share: 100, Until: time.Unix(1_800_000_000, 0).UTC()}
	if err := b.act(room.ActorRoom, room.Measured{Budgets: []room.BudgetChanged{{Participant: "a", BudgetMark: mark}, {Participant: "ghost", BudgetMark: mark}, {Participant: "b", BudgetMark: mark}}}); err != nil {
		t.Fatal(err)
	}
	seats := b.state.View(room.Internal).Seats
	if got := seats[0]; got.Phase != "idle" || got.Why != "budget used: 100 % of the turns of an hour (2 of 2)" || len(got.Budget) != 1 || got.Budget[0] != mark {
		t.Errorf("the view of a is %+v", got)
	}
	if len(seats[1].Budget) != 0 {
		t.Error("b has no budget, and a mark")
	}
	err := b.act(room.ActorHost, room.Next{Participant: "a"})
	if err == nil || !strings.Contains(err.Error(), "a has used its budget") {
		t.Errorf("next: %v", err)
	}
	hostile := room.Event{Seq: b.state.Seq + 1, Body: room.BudgetChanged{Participant: "a", BudgetMark: room.BudgetMark{Window: "week", Level: budget.Used}}}
	b.state.Apply(hostile)
	if x, _ := b.state.Seat("a"); len(x.Budgets) != 1 {
		t.Errorf("a window that does not exist is kept: %+v", x.Budgets)
	}
}

// TestBudgetCounts checks the figures of the room that are no tokens, and the fixes.
func TestBudgetCounts(t *testing.T) {
	b := opened(t, "a/price:1000000/budget:room.toolCalls:10 b me/human")
	reply := func(turn int, text string, tools, rounds int) {
		t.Helper()
		do := room.Replied{Turn: turn, Request: b.state.Turn.Request, Reply: endpoint.Reply{Outcome: endpoint.Said, Text: text, Tools: make([]endpoint.ToolCall, tools), ToolRounds: rounds, Usage: room.Usage{Known: true, Input: 1}}}
		if err := b.act("a", do); err != nil {
			t.Fatal(err)
		}
	}
	b.play("speak a go")
	reply(1, "one", 3, 1)
	b.play("speak b go")
	reply(2, "two", 9, 1) // of a seat without a budget
	b.play("speak a go")
	reply(3, "", 2, 4) // it passes
	if x, _ := b.state.Seat("a"); x.ToolCalls != 7 {
		t.Errorf("%d tool calls of a", x.ToolCalls)
	}
	if x, _ := b.state.Seat("b"); x.ToolCalls != 0 {
		t.Errorf("%d tool calls of b", x.ToolCalls)
	}
	marks := func() []room.BudgetMark { return b.state.View(room.Internal).Seats[0].Budget }
	if got := marks(); len(got) != 0 {
		t.Errorf("at 70 %% the marks are %+v", got)
	}
	b.play("speak a go")
	reply(4, "three", 1, 0)
	if got := marks(); len(got) != 1 || got[0].Level != budget.Near || got[0].What != "toolCalls" || got[0].Used != 8 {
		t.Errorf("at 80 %% the marks are %+v", got)
	}
	if err := b.act(room.ActorRoom, room.Measured{}); err != nil {
		t.Fatal(err)
	}
	b.play("speak a go")
	if err := b.act("a", room.Failed{Turn: 5, Request: b.state.Turn.Request, Code: room.FailAgent, ToolCalls: 2}); err != nil {
		t.Fatal(err)
	}
	if got := marks(); len(got) != 1 || got[0].Level != budget.Used || got[0].Used != 10 { // newer than what was recorded
		t.Errorf("at 100 %% the marks are %+v", got)
	}
	next := func() error { return b.act(room.ActorHost, room.Next{Participant: "a"}) }
	if err := next(); err == nil || !strings.Contains(fixOf(err), "in room.yaml") {
		t.Errorf("next, of the room: %v", err)
	}
	b = opened(t, "a/budget:hour.turns:2 b")
	for until, want := range map[time.Time]string{time.Unix(1_800_000_000, 0).UTC(): "wait until 2027-01-15 08:00:00 UTC, take", {}: "wait, take"} {
		mark := room.BudgetMark{Window: budget.Hour, What: "turns", Level: budget.Used, Until: until}
		if err := b.act(room.ActorRoom, room.Measured{Budgets: []room.BudgetChanged{{Participant: "a", BudgetMark: mark}}}); err != nil {
			t.Fatal(err)
		}
		if err := next(); err == nil || !strings.Contains(fixOf(err), want) || !strings.Contains(fixOf(err), "moot budget --reset") {
			t.Errorf("next, of an hour: %q, want %q", fixOf(err), want)
		}
	}
}

func fixOf(err error) string {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p.Fix
	}
	return ""
}

// TestBudgetNews checks that the policy is asked at once when a seat may not speak any
// more, or may again, which also ends the count of declines; and not when a mark tells
// people only.
func TestBudgetNews(t *testing.T) {
	b := opened(t, "a/budget:hour.turns:5 b no-objective maxDeclines=9")
	declines := func() int {
		t.Helper()
		b.play("decline nothing")
		return b.state.Tally.Declines
	}
	tell := func(level string) (asks bool) {
		t.Helper()
		mark := room.BudgetMark{Window: budget.Hour, What: "turns", Level: level}
		if err := b.act(room.ActorRoom, room.Measured{Budgets: []room.BudgetChanged{{Participant: "a", BudgetMark: mark}}}); err != nil {
			t.Fatal(err)
		}
		return b.state.LastNews == b.state.Seq
	}
	if declines() != 1 || tell(budget.Near) || b.state.Tally.Declines != 1 {
		t.Error("a mark for people is news for the policy")
	}
	if declines() != 2 || !tell(budget.Used) || b.state.Tally.Declines != 2 {
		t.Error("the end of a seat's turns is no news, or ends the count of declines")
	}
	n := len(b.log)
	if tell(budget.Used); len(b.log) != n {
		t.Error("a mark is recorded twice")
	}
	if declines() != 3 || !tell(budget.Free) || b.state.Tally.Declines != 0 {
		t.Error("a seat that may speak again is no news, or does not end the count of declines")
	}
	if tell(budget.Free); len(b.log) != n+2 {
		t.Errorf("a seat without a mark is told to be free: %d events", len(b.log)-n)
	}
	if err := b.act(room.ActorHost, room.SetStanding{Participant: "a", Standing: room.Removed}); err != nil {
		t.Fatal(err)
	}
	b.play("pause")
	if n = len(b.log); tell(budget.Near) || len(b.log) != n {
		t.Error("a paused room records marks")
	}
}

// TestBudgetMarksOfRoom checks the marks of the budget of the room: calls count, an
// estimate of the cost marks them, a seat that was removed has none, and used follows
// near.
func TestBudgetMarksOfRoom(t *testing.T) {
	b := caller(t, room.Budget{Room: room.Amounts{Calls: 5}})
	for range 4 {
		if _, err := call(b, calls.Args{Agent: "b", Task: "x", MaxTokens: 600}); err != nil {
			t.Fatal(err)
		}
	}
	if m := b.state.View(room.Internal).Seats[0].Budget; len(m) != 1 || m[0].What != "calls" || m[0].Used != 4 || m[0].Estimated {
		t.Errorf("marks %+v", m)
	}
	b = caller(t, room.Budget{Room: room.Amounts{Cost: 10}})
	if err := b.act("a", room.Replied{Turn: 1, Request: "q1", Reply: endpoint.Reply{Outcome: endpoint.Said, Text: "one", Usage: room.Usage{Known: true, Input: 8}}}); err != nil {
		t.Fatal(err)
	}
	if m := b.state.View(room.Internal).Seats[0].Budget; len(m) != 1 || m[0].Estimated {
		t.Errorf("a cost that is known has %+v", m)
	}
	b = opened(t, "a/budget:room.tokens:12 b") // without a price only the tokens are an estimate
	b.play("speak a go", "said one")
	if m := b.state.View(room.Internal).Seats[0].Budget; len(m) != 1 || !m[0].Estimated {
		t.Errorf("tokens that are estimated have %+v", m)
	}
	b = caller(t, room.Budget{Room: room.Amounts{Tokens: 100}})
	levels := func() (all []string) {
		t.Helper()
		n := len(b.log)
		if err := b.act(room.ActorRoom, room.Measured{}); err != nil {
			t.Fatal(err)
		}
		for _, e := range b.log[n:] {
			all = append(all, e.Body.(room.BudgetChanged).Level)
		}
		return all
	}
	say := func(turn int, tokens int64) {
		t.Helper()
		if err := b.act("a", room.Replied{Turn: turn, Request: b.state.Turn.Request, Reply: endpoint.Reply{Outcome: endpoint.Said, Text: "at " + strconv.Itoa(turn), Usage: room.Usage{Known: true, Input: tokens}}}); err != nil {
			t.Fatal(err)
		}
	}
	say(1, 85)
	if got := levels(); !reflect.DeepEqual(got, []string{budget.Near}) {
		t.Errorf("at 85 of 100: %v", got)
	}
	b.play("speak a again")
	say(2, 15)
	if got := levels(); !reflect.DeepEqual(got, []string{budget.Used}) {
		t.Errorf("at 100 of 100: %v", got)
	}
	b = caller(t, room.Budget{Room: room.Amounts{Tokens: 100}})
	say(1, 100)
	if err := b.act(room.ActorHost, room.SetStanding{Participant: "a", Standing: room.Removed}); err != nil {
		t.Fatal(err)
	}
	if got := levels(); len(got) != 0 {
		t.Errorf("of a seat that was removed: %v", got)
	}
	big := caller(t, room.Budget{Room: room.Amounts{ToolCalls: 100}})
	if err := big.act("a", room.Replied{Turn: 1, Request: "q1", Reply: endpoint.Reply{Outcome: endpoint.Said, Text: strings.Repeat("x", 20_000), ToolRounds: 7}}); err != nil {
		t.Fatal(err)
	}
	if x, _ := big.state.Seat("a"); x.ToolCalls != 7 || x.Failed != 1 {
		t.Errorf("of an answer that is too long %d tool calls are counted", x.ToolCalls)
	}
}

// TestBudgetMeasureOfSeat checks which estimate of the next prompt counts.
func TestBudgetMeasureOfSeat(t *testing.T) {
	b := opened(t, "a/budget:hour.tokens:100 b")
	x, _ := b.state.Seat("a")
	now := time.Unix(1_800_000_000, 0)
	if m := x.Measure(nil, now, room.Amounts{Tokens: 101}); len(m) != 1 || m[0].Level != budget.Used || m[0].Participant != "a" {
		t.Errorf("a prompt of 101 tokens: %+v", m)
	}
	x.Budgets = []room.BudgetMark{{Window: budget.Hour, Level: budget.Used, What: "tokens", Next: 101}}
	if m := x.Measure(nil, now, room.Amounts{}); m[0].Level != budget.Used || m[0].Next != 101 {
		t.Errorf("the prompt that was refused: %+v", m)
	}
	if m := x.Measure(nil, now, room.Amounts{Tokens: 99}); m[0].Level != budget.Free {
		t.Errorf("a smaller prompt after that: %+v", m)
	}
}
