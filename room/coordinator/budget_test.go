package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/memory"
)

// firstEligible grants the floor to the first agent that may speak.
func firstEligible(in policy.Input) policy.Decision {
	for _, a := range in.Agents {
		if a.Eligible {
			return policy.Speak(a.ID, "the first")
		}
	}
	return policy.Decline("no agent may speak")
}

// asked counts the prompts of each agent.
type asked struct{ a, b atomic.Int64 }

func (n *asked) Speak(_ context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
	if p.You.ID == "a" {
		n.a.Add(1)
	} else {
		n.b.Add(1)
	}
	return endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprintf("%s in %s at %d", p.You.ID, p.Room, p.Turn)}, nil
}

// budgeted returns a room in which a has that budget and the profile coder, and b none.
func budgeted(id string, b room.Budget, l room.Limits) (room.Spec, []room.Participant) {
	s := spec(l)
	s.Room = id
	seats := agents("a", "b")
	seats[0].Profile, seats[0].Budget = "coder", b
	return s, seats
}

// play runs a room to its end.
func play(t *testing.T, c coordinator.Config, s room.Spec, seats []room.Participant) room.View {
	t.Helper()
	r, err := coordinator.Open(t.Context(), c, s, seats)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r.View()
}

// marks lists the levels of the events about budgets in a room.
func marks(t *testing.T, l log.Reader, id string) (levels []string) {
	t.Helper()
	entries, err := l.Read(t.Context(), id, log.Pos{}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if b, ok := e.Event.Body.(room.BudgetChanged); ok {
			levels = append(levels, b.Window+" "+b.What+" "+b.Level)
		}
	}
	return levels
}

// TestBudgetOverRooms checks that the second room of an agent that has used its hour
// never asks it, and goes on with the others.
func TestBudgetOverRooms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, n := &memory.Log{}, &asked{}
		c := config(l, firstEligible, n.Speak)
		budget := room.Budget{Hour: room.Amounts{Turns: 5}}
		first, seats := budgeted("r1", budget, room.Limits{MaxTurns: 6})
		play(t, c, first, seats)
		if n.a.Load() != 5 || n.b.Load() != 1 {
			t.Fatalf("the first room asked a %d and b %d times, want 5 and 1", n.a.Load(), n.b.Load())
		}
		if got, want := marks(t, l, "r1"), []string{"hour turns near", "hour turns used"}; !slices.Equal(got, want) {
			t.Errorf("the first room told %v, want %v", got, want)
		}
		second, seats := budgeted("r2", budget, room.Limits{MaxTurns: 2})
		v := play(t, c, second, seats)
		if n.a.Load() != 5 || n.b.Load() != 3 {
			t.Errorf("after the second room a was asked %d and b %d times, want 5 and 3", n.a.Load(), n.b.Load())
		}
		if v.Phase != room.PhaseStopped || len(v.Seats[0].Budget) != 1 {
			t.Errorf("the second room is %s, and a has %+v", v.Phase, v.Seats[0].Budget)
		}
	})
}

// TestBudgetEnds checks that a seat gets the floor again when its window ends, without
// any event before.
func TestBudgetEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, n := &memory.Log{}, &asked{}
		c := config(l, func(in policy.Input) policy.Decision {
			d := firstEligible(in)
			d.RetryMS = 60_000
			return d
		}, n.Speak)
		s, seats := budgeted("r1", room.Budget{Hour: room.Amounts{Turns: 1}}, room.Limits{MaxTurns: 3, MaxDeclines: 1_000_000, MaxDuration: 5 * time.Hour})
		begin := time.Now()
		play(t, c, s, seats[:1])
		if took := time.Since(begin); n.a.Load() != 3 || took < 2*time.Hour || took > 2*time.Hour+time.Minute {
			t.Errorf("3 turns at one an hour: %d turns in %v", n.a.Load(), took)
		}
	})
}

// TestBudgetAtOnce checks that rooms which ask an agent at the same time do not pass
// its budget together.
func TestBudgetAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, n := &memory.Log{}, &asked{}
		c := config(l, firstEligible, func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			time.Sleep(time.Second) // all rooms have read the same charges meanwhile
			return n.Speak(ctx, p, f)
		})
		done := make(chan room.View)
		for i := range 8 {
			s, seats := budgeted(fmt.Sprint("r", i), room.Budget{Day: room.Amounts{Turns: 5}}, room.Limits{MaxTurns: 3})
			go func() { done <- play(t, c, s, seats) }()
		}
		for range 8 {
			if v := <-done; v.Phase != room.PhaseStopped || v.Tally.Turns != 3 {
				t.Errorf("room %s is %s after %d turns", v.Room, v.Phase, v.Tally.Turns)
			}
		}
		if n.a.Load() != 5 || n.b.Load() != 19 {
			t.Errorf("a was asked %d and b %d times, want 5 and 19", n.a.Load(), n.b.Load())
		}
	})
}

// TestBudgetOfTokens checks that a prompt that would pass the budget is not sent, and
// that usage that is not known is charged at its estimate.
func TestBudgetOfTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, n := &memory.Log{}, &asked{}
		c := config(l, firstEligible, n.Speak)
		s, seats := budgeted("r1", room.Budget{Hour: room.Amounts{Tokens: 5}}, room.Limits{MaxDeclines: 1})
		v := play(t, c, s, seats[:1])
		if n.a.Load() != 0 || v.Phase != room.PhaseCompleted || v.Ending.Cause != room.CauseSettled {
			t.Errorf("a was asked %d times, the room is %+v", n.a.Load(), v.Ending)
		}
		s, seats = budgeted("r2", room.Budget{Hour: room.Amounts{Tokens: 100_000}}, room.Limits{MaxTurns: 2})
		v = play(t, c, s, seats[:1])
		charges, err := l.Charges(t.Context(), "coder", time.Time{})
		if err != nil || len(charges) != 2 || !charges[0].Estimated || charges[0].Open {
			t.Fatalf("charges %+v, %v", charges, err)
		}
		if sum := charges[0].Tokens + charges[1].Tokens; sum != v.Tally.Tokens || sum < 100 || !v.Tally.Estimated {
			t.Errorf("the ledger has %d tokens, the room %d", sum, v.Tally.Tokens)
		}
	})
}

// A failingLog fails at the first append that fails says so of.
type failingLog struct {
	*memory.Log
	fails func(room.Body) bool
}

var errDisk = errors.New("the disk is full")

func (l *failingLog) Append(ctx context.Context, id string, after log.Pos, wake time.Time, evs ...room.Event) (log.Pos, bool, error) {
	for _, e := range evs {
		if l.fails != nil && l.fails(e.Body) {
			return log.Pos{}, false, errDisk
		}
	}
	return l.Log.Append(ctx, id, after, wake, evs...)
}

// TestBudgetCrash checks that a turn is charged once when the process ends between the
// charge and the event that belongs to it, before the turn and after it.
func TestBudgetCrash(t *testing.T) {
	for name, c := range map[string]struct {
		fails  func(room.Body) bool
		tokens []int64 // of the charges after the restart and a turn of 30 tokens; -1 is an estimate
	}{
		"before the grant": {func(b room.Body) bool { _, ok := b.(room.TurnGranted); return ok }, []int64{30}},
		"after the answer": {func(b room.Body) bool { m, ok := b.(room.MessagePosted); return ok && m.Turn > 0 }, []int64{30, 30}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &failingLog{Log: &memory.Log{}, fails: c.fails}
				cfg := config(l, firstEligible, func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
					return endpoint.Reply{Outcome: endpoint.Said, Text: "30 tokens", Usage: room.Usage{Known: true, Input: 20, Output: 10}}, nil
				})
				s, seats := budgeted("r1", room.Budget{Hour: room.Amounts{Turns: 9}}, room.Limits{MaxTurns: len(c.tokens)})
				r, err := coordinator.Open(t.Context(), cfg, s, seats[:1])
				if err != nil {
					t.Fatal(err)
				}
				if err := r.Run(t.Context()); !errors.Is(err, errDisk) {
					t.Fatalf("run: %v", err)
				}
				l.fails = nil
				cfg.ResumeAs = room.ActorHost
				if r, err = coordinator.Reopen(t.Context(), cfg, "r1"); err != nil {
					t.Fatal(err)
				}
				if err := r.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				charges, err := l.Charges(t.Context(), "coder", time.Time{})
				if err != nil {
					t.Fatal(err)
				}
				var tokens []int64
				for _, x := range charges {
					tokens = append(tokens, x.Tokens)
					if x.Open {
						t.Errorf("turn %d is charged as if it were under way", x.Turn)
					}
				}
				if !slices.Equal(tokens, c.tokens) {
					t.Errorf("charged %v, want %v", tokens, c.tokens)
				}
			})
		})
	}
}

// TestBudgetOfNext checks that a person cannot give the floor to a seat whose agent has
// used its budget in another room meanwhile.
func TestBudgetOfNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, n := &memory.Log{}, &asked{}
		c := config(l, func(policy.Input) policy.Decision { return policy.Decline("a person decides") }, n.Speak)
		c.Headless = false
		s, seats := budgeted("r1", room.Budget{Hour: room.Amounts{Calls: 1, Turns: 1}}, room.Limits{MaxDeclines: 1000})
		r, err := coordinator.Open(t.Context(), c, s, seats)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Run(ctx) }()
		synctest.Wait() // it waits to ask the policy again
		if err := l.Settle(t.Context(), room.BudgetCharge{ID: "other", Agent: "coder", At: time.Now(), Amounts: room.Amounts{Turns: 1}}); err != nil {
			t.Fatal(err)
		}
		_, err = r.Do(t.Context(), room.Command{Actor: room.ActorHost, Do: room.Next{Participant: "a"}})
		if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != "ROOM-BUDGET" || n.a.Load() != 0 {
			t.Errorf("next: %v; a was asked %d times", err, n.a.Load())
		}
		if got, want := marks(t, l, "r1"), []string{"hour turns used"}; !slices.Equal(got, want) {
			t.Errorf("the room told %v, want %v", got, want)
		}
		if _, err := l.Reset(t.Context(), "coder"); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Do(t.Context(), room.Command{Actor: room.ActorHost, Do: room.Next{Participant: "a"}}); err != nil {
			t.Errorf("next after a reset: %v", err)
		}
		cancel()
		<-ended
	})
}

// A blindLog cannot read charges.
type blindLog struct{ *memory.Log }

func (blindLog) Charges(context.Context, string, time.Time) ([]room.BudgetCharge, error) {
	return nil, errDisk
}

// TestBudgetUnknown checks that an agent whose charges cannot be read is not asked.
func TestBudgetUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &asked{}
		s, seats := budgeted("r1", room.Budget{Hour: room.Amounts{Turns: 1}}, room.Limits{})
		v := play(t, config(blindLog{&memory.Log{}}, firstEligible, n.Speak), s, seats)
		if v.Phase != room.PhaseError || v.Ending.Name != "LOG-READ" || n.a.Load()+n.b.Load() != 0 {
			t.Errorf("the room is %+v, and asked %d times", v.Ending, n.a.Load()+n.b.Load())
		}
	})
}

func TestAgent(t *testing.T) {
	base := room.Participant{ID: "a", Endpoint: policy.JSON(`{"kind":"acp"}`)}
	name := func(dir string, change func(*room.Participant)) string {
		p := base
		if change != nil {
			change(&p)
		}
		return coordinator.Agent(room.Spec{Dir: dir}, p)
	}
	same := name("/x", nil)
	if same != name("/x", func(p *room.Participant) { p.Role, p.Mode = "critic", room.FullAuto }) {
		t.Error("the role is no part of the agent")
	}
	for what, other := range map[string]string{
		"folder":   name("/y", nil),
		"id":       name("/x", func(p *room.Participant) { p.ID = "b" }),
		"endpoint": name("/x", func(p *room.Participant) { p.Endpoint = policy.JSON(`{"kind":"ndjson"}`) }),
		"device":   name("/x", func(p *room.Participant) { p.Device = "d1" }),
	} {
		if same == other {
			t.Errorf("another %s is another agent", what)
		}
	}
	profile := func(p *room.Participant) { p.Profile = "coder" }
	if name("/x", profile) != "coder" || name("/y", profile) != "coder" {
		t.Error("a profile names the agent")
	}
	if name("/x", func(p *room.Participant) { p.Profile, p.Device = "coder", "d1" }) == "coder" {
		t.Error("the profile of a remote seat is not its agent")
	}
	session := func(device string) string {
		return name("/x", func(p *room.Participant) { p.Session, p.Device = true, device })
	}
	if session("d1") != session("d2") {
		t.Error("a running session that moves is the same agent")
	}
}
