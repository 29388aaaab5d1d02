package room_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/budget"
	"github.com/folkmoot/moot/room/calls"
)

// caller opens a room in which a has that budget and the turn, and may call b and c.
func caller(t *testing.T, limits room.Budget) *bench {
	t.Helper()
	return callerWith(t, "", limits, nil)
}

// callerWith also sets options of b, and what is left of the budgets of a.
func callerWith(t *testing.T, options string, limits room.Budget, left *room.Amounts) *bench {
	t.Helper()
	b := &bench{T: t}
	open := openAct(t, "a/price:1000000 b"+options+" c me/human")
	open.Participants[0].Calls, open.Participants[0].Budget = room.CallsAllow, limits
	if err := b.act(room.ActorHost, open); err != nil {
		t.Fatal(err)
	}
	b.play("claim")
	record(b, room.TurnGranted{Turn: 1, Participant: "a", Request: "q1", Tokens: 10, Left: left, Timeout: time.Hour})
	return b
}

// record stores an event.
func record(b *bench, body room.Body) {
	e := room.Event{V: room.FormatVersion, Seq: b.state.Seq + 1, ID: "e" + strconv.FormatInt(b.state.Seq+1, 10), Epoch: b.state.Epoch, At: time.Unix(1_800_000_000, 0).UTC(), Body: body}
	b.state.Apply(e)
	b.log = append(b.log, e)
}

// call has a call an agent, and returns the event or why it is refused.
func call(b *bench, args calls.Args) (room.CallStarted, error) {
	b.Helper()
	n := len(b.log)
	if err := b.act("a", room.CallAgents{Calls: []calls.Args{args}}); err != nil {
		return room.CallStarted{}, err
	}
	return b.log[n].Body.(room.CallStarted), nil
}

func returned(b *bench, id string, r calls.Result) {
	b.Helper()
	if err := b.act(room.ActorRoom, room.CallReturned{Call: id, State: calls.Completed, Result: r}); err != nil {
		b.Fatal(err)
	}
}

// TestBudgetBoundsCalls checks what a call may reserve of the budget of its caller: a
// fourth of what is left, and no more than that if it asks for an amount.
func TestBudgetBoundsCalls(t *testing.T) {
	task := calls.Args{Agent: "b", Task: "x"}
	b := caller(t, room.Budget{Room: room.Amounts{Tokens: 40_010, Cost: 40_010, Calls: 3}}) // the prompt has 10 tokens, which cost 10
	first, err := call(b, task)
	if err != nil || first.Reserved.Tokens != 10_000 || first.Reserved.Cost != 10_000 {
		t.Fatalf("of 40000: %+v, %v", first.Reserved, err)
	}
	if second, err := call(b, task); err != nil || second.Reserved.Tokens != 7500 || second.Reserved.Cost != 7500 {
		t.Errorf("of 30000: %+v, %v", second.Reserved, err)
	}
	returned(b, "c1", calls.Result{Tokens: 2000, Cost: 400, Estimated: true}) // less than it has reserved
	exact := task
	exact.MaxTokens = 40_000 - 2000 - 7500 + 1
	if _, err := call(b, exact); err == nil {
		t.Error("a call of one token more than is left")
	}
	exact.MaxTokens--
	third, err := call(b, exact)
	if err != nil || third.Reserved.Tokens != exact.MaxTokens || third.Reserved.Cost != 40_000-400-7500 {
		t.Errorf("of all that is left: %+v, %v", third.Reserved, err)
	}
	if _, err := call(b, task); err == nil || !strings.Contains(err.Error(), "maxCalls") {
		t.Errorf("a fourth call: %v", err)
	}
	if x, _ := b.state.Seat("a"); x.CallsMade != 3 || x.Spent != 2000 {
		t.Errorf("%d calls and %d tokens are counted", x.CallsMade, x.Spent)
	}
	if x, _ := b.state.Seat("b"); x.CallsMade != 0 {
		t.Error("the called seat has made no call")
	}
	free := caller(t, room.Budget{})
	if _, err := call(free, task); err != nil {
		t.Fatal(err)
	}
	if x, _ := free.state.Seat("a"); x.CallsMade != 0 {
		t.Error("calls of a seat without a budget are counted")
	}
}

// TestBudgetLeftForCalls checks that calls get what was left of an hour and a day when
// their caller was given the floor.
func TestBudgetLeftForCalls(t *testing.T) {
	task := calls.Args{Agent: "b", Task: "x"}
	day := room.Budget{Day: room.Amounts{Tokens: 1 << 40}}
	b := callerWith(t, "", day, &room.Amounts{Tokens: 40_000, Cost: 4000, Calls: 2, Turns: -1, ToolCalls: -1})
	first, err := call(b, task)
	if err != nil || first.Reserved.Tokens != 10_000 || first.Reserved.Cost != 1000 {
		t.Fatalf("of 40000: %+v, %v", first.Reserved, err)
	}
	returned(b, "c1", calls.Result{Tokens: 20_000, Cost: 100})
	second, err := call(b, task)
	if err != nil || second.Reserved.Tokens != 5000 || second.Reserved.Cost != 975 {
		t.Errorf("of 20000: %+v, %v", second.Reserved, err)
	}
	if _, err := call(b, task); err == nil {
		t.Error("a third of two calls")
	}
	b = callerWith(t, "", day, &room.Amounts{Tokens: -1, Cost: -1, Turns: 8, Calls: -1, ToolCalls: -1})
	if free, err := call(b, task); err != nil || free.Reserved.Tokens != calls.Unlimited || free.Reserved.Cost != 0 {
		t.Errorf("without a limit: %+v, %v", free.Reserved, err)
	}
	b = callerWith(t, "", day, &room.Amounts{Calls: -1})
	if _, err := call(b, task); err == nil {
		t.Error("a call without a token left")
	}
}

// TestChargesOfCalls checks what calls charge to the ledger: their reservation while they
// run, and then what they have used; and which charges are open.
func TestChargesOfCalls(t *testing.T) {
	b := caller(t, room.Budget{Day: room.Amounts{Tokens: 100_000}})
	if ids := b.state.OpenCharges(); len(ids) != 1 || ids[0] != b.state.Turn.Request {
		t.Errorf("open are %v", ids)
	}
	started, err := call(b, calls.Args{Agent: "b", Task: "x", MaxTokens: 9000})
	if err != nil {
		t.Fatal(err)
	}
	if ids := b.state.OpenCharges(); len(ids) != 2 || ids[1] != started.Room {
		t.Errorf("open are %v", ids)
	}
	at := time.Unix(1_800_000_000, 0)
	want := room.BudgetCharge{ID: started.Room, Room: "r1", Turn: 1, At: at, Amounts: room.Amounts{Tokens: 9000, Calls: 1}, Estimated: true, Open: true}
	if seat, c, ok := b.state.ChargeOf(room.Event{At: at, Body: started}); !ok || seat != "a" || c != want {
		t.Errorf("the start charges %+v to %s, want %+v", c, seat, want)
	}
	for i, flags := range [][2]bool{{true, false}, {false, true}, {false, false}} {
		ended := room.CallEnded{Call: "c1", State: calls.Completed, Result: calls.Result{Tokens: 70, Cost: 7, Estimated: flags[0], CostEstimated: flags[1]}}
		want = room.BudgetCharge{ID: started.Room, Room: "r1", Turn: 1, At: at, Amounts: room.Amounts{Tokens: 70, Cost: 7, Calls: 1}, Estimated: i < 2}
		if seat, c, ok := b.state.ChargeOf(room.Event{At: at, Body: ended}); !ok || seat != "a" || c != want {
			t.Errorf("the end charges %+v to %s, want %+v", c, seat, want)
		}
	}
	returned(b, "c1", calls.Result{})
	for _, id := range []string{"c1", "c9"} {
		if _, c, ok := b.state.ChargeOf(room.Event{Body: room.CallEnded{Call: id}}); ok {
			t.Errorf("the end of a call that is not open charges %+v", c)
		}
	}
	said := room.MessagePosted{Turn: 1, Message: room.Message{From: "a", Tools: make([]room.ToolCall, 2), ToolsMore: 3, ToolRounds: 4}, Usage: room.Usage{Known: true, Input: 3, Output: 4, CostKnown: true, Cost: 5}}
	want = room.BudgetCharge{ID: b.state.Turn.Request, Room: "r1", Turn: 1, At: at, Amounts: room.Amounts{Tokens: 7, Cost: 5, Turns: 1, ToolCalls: 5}}
	if seat, c, ok := b.state.ChargeOf(room.Event{At: at, Body: said}); !ok || seat != "a" || c != want {
		t.Errorf("the turn charges %+v to %s, want %+v", c, seat, want)
	}
	other := caller(t, room.Budget{Room: room.Amounts{Calls: 3}})
	if started, err = call(other, calls.Args{Agent: "b", Task: "x"}); err != nil {
		t.Fatal(err)
	}
	if _, c, ok := other.state.ChargeOf(room.Event{Body: started}); ok {
		t.Errorf("without an hour or a day a call charges %+v", c)
	}
	if _, c, ok := other.state.ChargeOf(room.Event{Body: room.CallStarted{Call: room.Call{Caller: "ghost"}}}); ok {
		t.Errorf("a seat that does not exist is charged %+v", c)
	}
}

// TestBudgetOfChild checks that a child room ends when its agent has no budget left, and
// only then, and that a seat which has none is not called.
func TestBudgetOfChild(t *testing.T) {
	used := room.Measured{Budgets: []room.BudgetChanged{{Participant: "a", BudgetMark: room.BudgetMark{Window: budget.Hour, What: "turns", Level: budget.Used}}}}
	near := room.Measured{Budgets: []room.BudgetChanged{{Participant: "a", BudgetMark: room.BudgetMark{Window: budget.Hour, What: "turns", Level: budget.Near}}}}
	child := func() *bench {
		b := &bench{T: t}
		open := openAct(t, "a/budget:hour.turns:5 lead")
		open.Spec.Call, open.Participants[1].Caller = &room.CallOf{Agent: "a", Caller: "lead"}, true
		if err := b.act(room.ActorHost, open); err != nil {
			t.Fatal(err)
		}
		b.play("claim")
		return b
	}
	b := child()
	if err := b.act(room.ActorRoom, near); err != nil || b.state.Phase != room.PhaseLive {
		t.Errorf("near its limit the room is %s, %v", b.state.Phase, err)
	}
	if err := b.act(room.ActorRoom, used); err != nil || b.state.Phase != room.PhaseStopped || b.state.Ending.Name != "budget" {
		t.Errorf("without a budget the room is %+v, %v", b.state.Ending, err)
	}
	b = opened(t, "a/budget:hour.turns:5 b")
	if err := b.act(room.ActorRoom, used); err != nil || b.state.Phase != room.PhaseLive {
		t.Errorf("a room that is no child is %s, %v", b.state.Phase, err)
	}
	b = callerWith(t, "/budget:hour.turns:5", room.Budget{}, nil)
	record(b, room.BudgetChanged{Participant: "b", BudgetMark: used.Budgets[0].BudgetMark})
	if _, err := call(b, calls.Args{Agent: "b", Task: "x"}); err == nil || !strings.Contains(err.Error(), "has used") {
		t.Errorf("calling a seat without a budget: %v", err)
	}
	if _, err := call(b, calls.Args{Agent: "c", Task: "x"}); err != nil {
		t.Error(err)
	}
}

// TestBudgetBoundsOthers checks that a budget never raises what a limit of the room
// leaves, that calls under way count, and that a session may call outside its turn.
func TestBudgetBoundsOthers(t *testing.T) {
	task := calls.Args{Agent: "b", Task: "x"}
	day := room.Budget{Day: room.Amounts{Tokens: 1 << 40}}
	for _, left := range []room.Amounts{{Cost: -1, Calls: -1}, {Tokens: -1, Calls: -1}} {
		b := callerWith(t, "", day, &left)
		if _, err := call(b, task); err == nil {
			t.Errorf("a call with %+v left", left)
		}
	}
	b := callerWith(t, "", day, &room.Amounts{Tokens: 40_000, Cost: 4000, Calls: -1})
	if _, err := call(b, task); err != nil {
		t.Fatal(err)
	}
	if second, err := call(b, task); err != nil || second.Reserved.Tokens != 7500 || second.Reserved.Cost != 750 {
		t.Errorf("of 30000: %+v, %v", second.Reserved, err)
	}
	b = &bench{T: t}
	open := openAct(t, "a/budget:room.tokens:40000 b/session c me/human maxTokens=10")
	open.Participants[0].Calls, open.Participants[1].Calls, open.Participants[1].Budget.Room = room.CallsAllow, room.CallsAllow, room.Amounts{Tokens: 40_000}
	if err := b.act(room.ActorHost, open); err != nil {
		t.Fatal(err)
	}
	b.play("claim")
	record(b, room.TurnGranted{Turn: 1, Participant: "a", Request: "q1", Tokens: 10, Timeout: time.Hour})
	if _, err := call(b, calls.Args{Agent: "c", Task: "x"}); err == nil || !strings.Contains(err.Error(), "maxTokens") {
		t.Errorf("a call of a room without a token left: %v", err)
	}
	if err := b.act(room.ActorHost, room.SetLimits{Limits: room.Limits{MaxTokens: 1 << 40}}); err != nil {
		t.Fatal(err)
	}
	b.play("pass", "live b")
	if err := b.act("b", room.CallAgents{Calls: []calls.Args{{Agent: "c", Task: "x"}}}); err != nil {
		t.Fatal(err)
	}
	if started, ok := b.log[len(b.log)-1].Body.(room.CallStarted); !ok || started.Reserved.Tokens != 10_000 {
		t.Errorf("a call of a session: %+v", b.log[len(b.log)-1].Body)
	}
	_, c, ok := b.state.ChargeOf(room.Event{Body: room.CallStarted{Call: room.Call{Caller: "b"}}})
	if ok {
		t.Errorf("it is charged %+v", c)
	}
	b = caller(t, day)
	if _, c, ok := b.state.ChargeOf(room.Event{Body: room.CallStarted{Call: room.Call{Caller: "a", Reserved: calls.Budget{Tokens: 5, Cost: 6}}}}); !ok || c.Tokens != 5 || c.Cost != 6 {
		t.Errorf("a reservation charges %+v", c)
	}
}
