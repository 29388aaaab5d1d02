package room_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/budget"
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
