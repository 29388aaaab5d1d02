package coordinator_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// TestBudgetOfCaller checks that the calls of a seat get what is left of its day at most,
// that they count as its calls, and that what they use is charged to it.
func TestBudgetOfCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		var reserved []int64
		var refused error
		say := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			usage := endpoint.Usage{Known: true, Input: 70, Output: 30}
			if p.You.ID == "coder" {
				open, err := l.Charges(ctx, "lead", time.Time{})
				if err != nil || len(open) < 2 || !open[len(open)-1].Open {
					t.Errorf("while the call runs, %+v is charged, %v", open, err)
				}
				return endpoint.Reply{Outcome: endpoint.Said, Text: "done", Usage: usage}, nil
			}
			for range 2 {
				if _, err := raiseCall(ctx, f, `{"agent_name":"coder","task":"write"}`); err != nil {
					t.Error(err)
				}
			}
			_, refused = raiseCall(ctx, f, `{"agent_name":"coder","task":"write"}`)
			return endpoint.Reply{Outcome: endpoint.Said, Text: "finished", Usage: usage}, nil
		}
		s, seats := spec(room.Limits{}), team()
		seats[0].Profile, seats[0].Budget = "lead", room.Budget{Day: room.Amounts{Tokens: 10_000, Calls: 2}}
		play(t, config(l, only, say), s, seats)
		for _, b := range bodies[room.CallStarted](t, l, "r1") {
			reserved = append(reserved, b.Reserved.Tokens)
		}
		if len(reserved) != 2 || reserved[0] > 10_000 || reserved[1] > 10_000-100 || refused == nil || !strings.Contains(refused.Error(), "maxCalls") {
			t.Errorf("reserved %v, and the third call: %v", reserved, refused)
		}
		charges, err := l.Charges(t.Context(), "lead", time.Time{})
		if err != nil || len(charges) != 3 {
			t.Fatalf("charges %+v, %v", charges, err)
		}
		var sum room.Amounts
		for _, c := range charges {
			if sum = sum.Plus(c.Amounts); c.Open {
				t.Errorf("%+v is open", c)
			}
		}
		if want := (room.Amounts{Tokens: 300, Turns: 1, Calls: 2}); sum != want {
			t.Errorf("charged %+v, want %+v", sum, want)
		}
	})
}

// TestBudgetOfCalled checks that a call of an agent which has used its budget in other
// rooms fails at once, without a prompt, and says why.
func TestBudgetOfCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		var got calls.Answer
		say := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			if p.You.ID == "coder" {
				t.Error("the agent was asked")
			}
			// It is used up after the room has given the floor to the caller.
			if err := l.Settle(ctx, room.BudgetCharge{ID: "x", Agent: "coder", At: time.Now(), Amounts: room.Amounts{Turns: 1}}); err != nil {
				t.Error(err)
			}
			a, err := raiseCall(ctx, f, `{"agent_name":"coder","task":"write"}`)
			got = a
			return endpoint.Reply{Outcome: endpoint.Said, Text: "finished"}, err
		}
		s, seats := spec(room.Limits{}), team()
		seats[1].Profile, seats[1].Budget = "coder", room.Budget{Hour: room.Amounts{Turns: 1}, Room: room.Amounts{Turns: 1}}
		begin := time.Now()
		play(t, config(l, only, say), s, seats)
		if got.State != calls.Failed || len(got.Result.Errors) == 0 || !strings.Contains(got.Result.Errors[0], "budget") || time.Since(begin) > time.Second {
			t.Errorf("the call is %+v after %v", got, time.Since(begin))
		}
	})
}

// TestBudgetOfRoomAndCalls checks that the budget of the room bounds calls too.
func TestBudgetOfRoomAndCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		say := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			if p.You.ID == "lead" {
				a, err := f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalCall, Body: []byte(`{"calls":[{"agent_name":"coder","task":"a"},{"agent_name":"tester","task":"b"}]}`)})
				if err != nil || !a.Allowed {
					t.Error(a, err)
				}
				if _, err := raiseCall(ctx, f, `{"agent_name":"coder","task":"c"}`); err == nil {
					t.Error("a call past the budget of calls")
				}
			}
			return count(ctx, p, f)
		}
		s, seats := spec(room.Limits{}), team()
		seats[0].Budget = room.Budget{Room: room.Amounts{Tokens: 50_000, Cost: 1_000_000, Calls: 2}}
		r, err := coordinator.Open(t.Context(), config(l, only, say), s, seats)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		var sum int64
		started := bodies[room.CallStarted](t, l, "r1")
		for _, b := range started {
			sum += b.Reserved.Tokens
		}
		if len(started) != 2 || sum > 50_000 {
			t.Errorf("%d calls with %d tokens", len(started), sum)
		}
		if m := r.View().Seats[0].Budget; len(m) != 1 || m[0].What != "calls" || m[0].Level != "used" {
			t.Errorf("marks %+v", m)
		}
	})
}
