package room_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
	"pgregory.net/rapid"
)

// callRoom opens a room in which lead has the turn, with these limits.
func callRoom(t *testing.T, limits room.Limits, change func(*room.Open)) *bench {
	t.Helper()
	b := &bench{T: t}
	open := room.Open{Spec: room.Spec{Room: "r1", Secret: "s", Limits: limits, Agents: []room.Participant{{ID: "coder", Kind: policy.Local, Mode: room.FullAuto}}}}
	for _, id := range []string{"lead", "a", "b"} {
		open.Participants = append(open.Participants, room.Participant{ID: id, Kind: policy.Local, Mode: room.FullAuto})
	}
	open.Participants = append(open.Participants, room.Participant{ID: "me", Kind: policy.Human})
	open.Participants[0].Calls = room.CallsAllow
	if change != nil {
		change(&open)
	}
	if err := b.act(room.ActorHost, open); err != nil {
		t.Fatal(err)
	}
	b.play("claim")
	record(b, room.TurnGranted{Turn: 1, Participant: "lead", Request: "q1", Tokens: 100, Timeout: time.Hour})
	return b
}

func (b *bench) call(args ...calls.Args) error { return b.act("lead", room.CallAgents{Calls: args}) }

// TestCallRefusals: what the note's code let pass, or said to check and did not.
func TestCallRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*room.Open)
		args   calls.Args
		want   string
	}{
		"itself":           {nil, calls.Args{Agent: "lead", Task: "x"}, "lead would call itself"},
		"no right":         {func(o *room.Open) { o.Participants[0].Calls = "" }, calls.Args{Agent: "a", Task: "x"}, "may not call other agents"},
		"unknown":          {nil, calls.Args{Agent: "zed", Task: "x"}, `no agent "zed" can be called`},
		"a person":         {nil, calls.Args{Agent: "me", Task: "x"}, "no agent that this host starts"},
		"another owner's":  {func(o *room.Open) { o.Participants[1].Device = "dev" }, calls.Args{Agent: "a", Task: "x"}, "no agent that this host starts"},
		"the same profile": {func(o *room.Open) { o.Participants[0].Profile, o.Participants[1].Profile = "p", "p" }, calls.Args{Agent: "a", Task: "x"}, "one prompt at a time"},
		"no task":          {nil, calls.Args{Agent: "a", Task: " "}, "task is missing"},
		"a bad filter":     {nil, calls.Args{Agent: "a", Task: "x", Context: []byte(`{"last":1}`)}, "unknown field"},
		"over the tokens":  {nil, calls.Args{Agent: "a", Task: "x", MaxTokens: 10_000}, "limit maxTokens"},
		"over the depth":   {func(o *room.Open) { o.Spec.Call = &room.CallOf{Nested: true, MaxDepth: 0, Agent: "lead"} }, calls.Args{Agent: "a", Task: "x"}, "1 deep, and the limit is 0"},
		"nested off":       {func(o *room.Open) { o.Spec.Call = &room.CallOf{MaxDepth: 5, Agent: "lead"} }, calls.Args{Agent: "a", Task: "x"}, "nested calls are off"},
		"a caller above it": {func(o *room.Open) {
			o.Spec.Call = &room.CallOf{Nested: true, MaxDepth: 5, Agent: "lead", Chain: []calls.Link{{Agent: "a", Room: "r0"}}}
		}, calls.Args{Agent: "a", Task: "x"}, "a is one of its callers"},
	} {
		b := callRoom(t, room.Limits{MaxTokens: 9_000}, c.change)
		if err := b.call(c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	b := callRoom(t, room.Limits{}, nil)
	for _, actor := range []string{"a", "me", room.ActorHost, "coder"} {
		if err := b.act(actor, room.CallAgents{Calls: []calls.Args{{Agent: "b", Task: "x"}}}); err == nil {
			t.Errorf("%s has called an agent without a turn", actor)
		}
	}
}

// TestMayCall: the view says whose agent room.yaml lets call others.
func TestMayCall(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*room.Open)
		want   string
	}{
		"allowed":     {nil, "lead"},
		"asks":        {func(o *room.Open) { o.Participants[1].Calls = room.CallsAsk }, "lead a"},
		"denied":      {func(o *room.Open) { o.Participants[0].Calls = room.CallsDeny }, ""},
		"foreign":     {func(o *room.Open) { o.Participants[1].Calls, o.Participants[1].Device = room.CallsAllow, "dev" }, "lead"},
		"child":       {func(o *room.Open) { o.Spec.Call = &room.CallOf{MaxDepth: 5, Agent: "lead"} }, ""},
		"nested call": {func(o *room.Open) { o.Spec.Call = &room.CallOf{Nested: true, MaxDepth: 5, Agent: "lead"} }, "lead"},
	} {
		var may []string
		for _, x := range callRoom(t, room.Limits{}, c.change).state.View(room.UserVisible).Seats {
			if x.MayCall {
				may = append(may, x.ID)
			}
		}
		if got := strings.Join(may, " "); got != c.want {
			t.Errorf("%s: %q may call, want %q", name, got, c.want)
		}
	}
}

// TestCallTools: allowed_tools narrows the rights of the called agent and never widens
// them (the note's code took the list of the caller).
func TestCallTools(t *testing.T) {
	b := callRoom(t, room.Limits{}, func(o *room.Open) { o.Participants[1].Role = "manager" }) // it reads only
	for _, c := range []struct {
		tools []string
		want  []string
	}{
		{nil, []string{"read", "search", "think", "fetch", "other"}},
		{[]string{"read", "execute", "edit", "delete"}, []string{"read"}},
		{[]string{}, []string{}},
	} {
		if err := b.call(calls.Args{Agent: "a", Task: "x", AllowedTools: c.tools}); err != nil {
			t.Fatal(err)
		}
		if got := b.state.Calls[len(b.state.Calls)-1].Rights; !slices.Equal(got, c.want) {
			t.Errorf("%q gives %q, want %q", c.tools, got, c.want)
		}
	}
}

// TestCallBudgets: whatever 50 parallel calls ask for and use, what is spent and what is
// reserved is never more than the limits, and every reservation is released once.
func TestCallBudgets(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limits := room.Limits{
			MaxTokens: rapid.Int64Range(1_000, 2_000_000).Draw(rt, "tokens"), MaxCost: rapid.Int64Range(0, 1_000_000).Draw(rt, "cost"),
			MaxCalls: rapid.IntRange(1, 60).Draw(rt, "calls"),
		}
		b := callRoom(t, limits, nil)
		started := 0
		check := func() {
			s := &b.state
			sum := s.Reserved()
			if s.Tally.Tokens+sum.Tokens > limits.MaxTokens || limits.MaxCost > 0 && s.Tally.Cost+sum.Cost > limits.MaxCost || s.Called+sum.Calls > limits.MaxCalls {
				rt.Fatalf("spent %+v, reserved %+v, limits %+v", s.Tally, sum, limits)
			}
		}
		for range rapid.IntRange(1, 120).Draw(rt, "steps") {
			var open []room.Call
			for _, c := range b.state.Calls {
				if c.State.Open() {
					open = append(open, c)
				}
			}
			if len(open) > 0 && (len(open) == 50 || rapid.IntRange(0, 3).Draw(rt, "end") == 0) {
				c := rapid.SampledFrom(open).Draw(rt, "call")
				used := calls.Result{Tokens: rapid.Int64Range(0, c.Reserved.Tokens).Draw(rt, "used"), Cost: rapid.Int64Range(0, c.Reserved.Cost).Draw(rt, "paid"), Calls: rapid.IntRange(0, c.Reserved.Calls-1).Draw(rt, "below")}
				do := room.CallReturned{Call: c.ID, State: calls.Completed, Result: used}
				before := b.state.Tally.Tokens
				if err := b.act(room.ActorRoom, do); err != nil {
					rt.Fatal(err)
				}
				if err := b.act(room.ActorRoom, do); err == nil || b.state.Tally.Tokens != before+used.Tokens {
					rt.Fatalf("returned twice: %v, %d tokens after %d", err, b.state.Tally.Tokens, before)
				}
			} else if b.call(calls.Args{
				Agent: rapid.SampledFrom([]string{"a", "b", "coder"}).Draw(rt, "agent"), Task: "x", WaitMS: new(int64),
				MaxTokens: rapid.SampledFrom([]int64{0, 0, 1, 500, 20_000, 1_000_000}).Draw(rt, "asks"), AllowNested: rapid.Bool().Draw(rt, "nested"),
			}) == nil {
				started++
			}
			check()
		}
		if started > limits.MaxCalls {
			rt.Fatalf("%d calls, and the limit is %d", started, limits.MaxCalls)
		}
	})
}

// TestFiftyCalls: fifty calls at once fit into a budget that has room for them, and the
// next one is refused.
func TestFiftyCalls(t *testing.T) {
	b := callRoom(t, room.Limits{MaxTokens: 50_100}, nil)
	for range 50 {
		if err := b.call(calls.Args{Agent: "a", Task: "x", MaxTokens: 1_000, WaitMS: new(int64)}); err != nil {
			t.Fatal(err)
		}
	}
	if sum := b.state.Reserved(); sum.Tokens != 50_000 || sum.Calls != 50 {
		t.Errorf("reserved %+v", sum)
	}
	if err := b.call(calls.Args{Agent: "a", Task: "x", MaxTokens: 1}); err == nil || !strings.Contains(err.Error(), "maxCalls") {
		t.Errorf("the 51st: %v", err)
	}
}

// TestCallsAsk: a person is asked once for all calls of a request, and told how many
// there are, of which agents, and what is reserved.
func TestCallsAsk(t *testing.T) {
	two := []calls.Args{{Agent: "a", Task: "read it", MaxTokens: 2_000}, {Agent: "coder", Task: "write it", MaxTokens: 3_000}}
	b := callRoom(t, room.Limits{}, func(o *room.Open) { o.Participants[0].Calls = room.CallsAsk })
	if err := b.call(two...); err != nil {
		t.Fatal(err)
	}
	asked := b.state.Turn.Requests
	if len(asked) != 1 || len(b.state.Calls) != 0 {
		t.Fatalf("%d requests, %d calls", len(asked), len(b.state.Calls))
	}
	p := asked[0].Permission
	if p.Kind != room.ActionCall || p.Title != "start 2 children: a, coder" || !strings.Contains(p.Detail, "reserved 5000 tokens") || !strings.Contains(p.Detail, "write it") || strings.Contains(p.Detail, "cost") {
		t.Errorf("%+v", p)
	}
	if err := b.act("me", room.Permit{ID: asked[0].ID, Allowed: true}); err != nil {
		t.Fatal(err)
	}
	if len(b.state.Calls) != 2 || b.state.Calls[1].Permit != asked[0].ID {
		t.Errorf("%+v", b.state.Calls)
	}
	if err := b.call(two...); err != nil {
		t.Fatal(err)
	}
	if err := b.act("me", room.Permit{ID: b.state.Turn.Requests[0].ID}); err != nil || len(b.state.Calls) != 2 {
		t.Errorf("denied: %v, %d calls", err, len(b.state.Calls))
	}
	if err := b.act("lead", room.CallAgents{Calls: two, Absent: true}); err != nil || len(b.state.Turn.Requests) != 0 || len(b.state.Calls) != 2 {
		t.Errorf("with nobody there: %v, %+v", err, b.state.Turn.Requests)
	}
}

// TestWaitHoldsClock: the clock of the caller's turn stands while it waits for a call,
// and not while a call goes on without it.
func TestWaitHoldsClock(t *testing.T) {
	b := callRoom(t, room.Limits{}, func(o *room.Open) { o.Participants[0].Timeout = time.Minute })
	wait := int64(90_000)
	if err := b.call(calls.Args{Agent: "a", Task: "x", WaitMS: &wait}); err != nil {
		t.Fatal(err)
	}
	if err := b.call(calls.Args{Agent: "b", Task: "x", WaitMS: new(int64)}); err != nil {
		t.Fatal(err)
	}
	b.clock = 90 * time.Second
	if err := b.act(room.ActorRoom, room.Tick{}); err != nil || b.state.Turn.Calling != 0 || b.state.Turn.Held != 90*time.Second {
		t.Errorf("%v, %+v", err, b.state.Turn)
	}
	if !b.state.CallsOpen() {
		t.Error("the call has ended with the wait")
	}
}

// TestInterruptedCaller: a call that its caller waited for is cancelled when a person
// interrupts the turn; one that was started without waiting goes on; and a pause
// cancels none.
func TestInterruptedCaller(t *testing.T) {
	for _, c := range []struct {
		do    room.Act
		first bool // c1 is cancelled
		both  bool
	}{
		{room.TakeOver{Participant: "lead"}, true, false},
		{room.Pause{}, false, false},
		{room.SetStanding{Participant: "lead", Standing: room.Muted}, true, true},
		{room.Stop{}, true, true},
		{room.Complete{}, true, true},
		{room.Claim{Owner: "next", Restart: true}, false, false},
	} {
		b := callRoom(t, room.Limits{}, nil)
		if err := b.call(calls.Args{Agent: "a", Task: "x"}); err != nil {
			t.Fatal(err)
		}
		if err := b.call(calls.Args{Agent: "b", Task: "x", WaitMS: new(int64)}); err != nil {
			t.Fatal(err)
		}
		if err := b.act(room.ActorHost, c.do); err != nil {
			t.Fatal(err)
		}
		first, second := b.state.Calls[0], b.state.Calls[1]
		if (first.Canceling != "") != c.first || (second.Canceling != "") != c.both || first.WaitUntil != 0 {
			t.Errorf("%T: %+v\n%+v", c.do, first, second)
		}
	}
}

// TestPreview: lists have at most 200 characters of a task, and no secret.
func TestPreview(t *testing.T) {
	b := callRoom(t, room.Limits{}, nil)
	task := "deploy with API_KEY=sk-abcdefghijklmnopqrstuvwxyz " + strings.Repeat("word ", 100)
	if err := b.call(calls.Args{Agent: "a", Task: task}); err != nil {
		t.Fatal(err)
	}
	c := b.state.CallsAt(room.Internal)[0]
	if len([]rune(strings.TrimSuffix(c.Task, "…"))) > 200 || strings.Contains(c.Task, "abcdefgh") || c.Request != nil {
		t.Errorf("%+v", c)
	}
	if b.state.CallsAt(room.UserVisible) != nil {
		t.Error("a spectator reads calls")
	}
}

// TestRingOfCalls: agents that call each other without an end are stopped by the loop
// guard, also by a call that a person allows. The calls that this has started are
// cancelled with the room, and no permission is answered twice.
func TestRingOfCalls(t *testing.T) {
	for _, ask := range []bool{false, true} {
		b := callRoom(t, room.Limits{MaxRing: 5}, func(o *room.Open) {
			if ask {
				o.Participants[0].Calls = room.CallsAsk
			}
		})
		for turn := 1; ; turn++ {
			if err := b.call(calls.Args{Agent: "a", Task: "x"}, calls.Args{Agent: "a", Task: "y"}); err != nil {
				t.Fatal(err)
			}
			n := len(b.log)
			if ask {
				if err := b.act("me", room.Permit{ID: b.state.Turn.Requests[0].ID, Allowed: true}); err != nil {
					t.Fatal(err)
				}
			}
			if b.state.Phase == room.PhaseStopped {
				answered := slices.DeleteFunc(slices.Clone(b.log[n:]), func(e room.Event) bool { return e.Body.Type() != "permission.answered" })
				if turn != 3 || b.state.Ending.Name != "ring" || ask && len(answered) != 1 {
					t.Errorf("ask is %t: turn %d, %+v, answers %+v", ask, turn, b.state.Ending, answered)
				}
				break
			}
			for _, c := range b.state.Calls[len(b.state.Calls)-2:] {
				if err := b.act(room.ActorRoom, room.CallReturned{Call: c.ID, State: calls.Completed}); err != nil {
					t.Fatal(err)
				}
			}
			b.play("said turn "+strings.Repeat("x", turn), "speak lead go")
		}
		for _, c := range b.state.Calls[len(b.state.Calls)-2:] {
			if c.Canceling == "" || c.WaitUntil != 0 {
				t.Errorf("ask is %t: %+v goes on", ask, c)
			}
		}
	}
}

// TestReturnEndsRing: a result that stops the room ends its own call and cancels the
// others.
func TestReturnEndsRing(t *testing.T) {
	b := callRoom(t, room.Limits{MaxRing: 4}, nil)
	for turn := range 2 {
		if err := b.call(calls.Args{Agent: "a", Task: "x"}, calls.Args{Agent: "a", Task: "y"}); err != nil {
			t.Fatal(err)
		}
		for _, c := range b.state.Calls[2*turn : 2*turn+2-turn] {
			if err := b.act(room.ActorRoom, room.CallReturned{Call: c.ID, State: calls.Completed}); err != nil {
				t.Fatal(err)
			}
		}
		if turn == 0 {
			b.play("said one", "speak lead go")
		}
	}
	ended, open := b.state.Calls[2], b.state.Calls[3]
	if b.state.Ending.Name != "ring" || ended.State != calls.Completed || ended.Canceling != "" || open.Canceling == "" {
		t.Errorf("%+v\n%+v\n%+v", b.state.Ending, ended, open)
	}
}

// TestCopiesKeepCalls: what changes of a call does not change in a copy of the state.
func TestCopiesKeepCalls(t *testing.T) {
	b := callRoom(t, room.Limits{}, nil)
	if err := b.call(calls.Args{Agent: "a", Task: "x"}); err != nil {
		t.Fatal(err)
	}
	before := b.state
	if err := b.act(room.ActorRoom, room.CallProgressed{Call: "c1", State: calls.Working}); err != nil || before.Calls[0].State != calls.Submitted {
		t.Errorf("%v, %+v", err, before.Calls)
	}
}

// TestResultOnce: a result that its caller did not get is posted once.
func TestResultOnce(t *testing.T) {
	b := callRoom(t, room.Limits{}, nil)
	if err := b.call(calls.Args{Agent: "a", Task: "x"}); err != nil {
		t.Fatal(err)
	}
	if err := b.act(room.ActorRoom, room.CallReturned{Call: "c1", State: calls.Completed, Result: calls.Result{Output: "done"}}); err != nil {
		t.Fatal(err)
	}
	if err := b.act("lead", room.Posted{Message: room.Message{Text: "about the call", Correlation: "c1"}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.act("lead", room.AwaitCall{Call: "c1", Lost: true}); err != nil || b.state.Tally.Messages != 2 {
			t.Errorf("%d messages, %v", b.state.Tally.Messages, err)
		}
	}
}

// TestCallUnderDraft: a running session whose draft waits cannot ask for a permission,
// because its turn waits for a person already.
func TestCallUnderDraft(t *testing.T) {
	b := callRoom(t, room.Limits{}, func(o *room.Open) {
		o.Participants[0].Calls, o.Participants[0].Session, o.Participants[0].Mode = room.CallsAsk, true, room.Manual
	})
	b.play("live lead", "answers lead here it is")
	if err := b.call(calls.Args{Agent: "a", Task: "x"}); err == nil || !strings.Contains(err.Error(), "needs a permission") || b.state.Turn.Draft == nil {
		t.Errorf("%v, %+v", err, b.state.Turn)
	}
}
