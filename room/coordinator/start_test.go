package coordinator_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// slowStart is an agent whose start takes a while.
type slowStart struct {
	speakFunc
	start func(context.Context, endpoint.Floor) error
}

func (s slowStart) Start(ctx context.Context, f endpoint.Floor) error { return s.start(ctx, f) }

// startsAfter waits, or returns early when ctx ends.
func startsAfter(d time.Duration) func(context.Context, endpoint.Floor) error {
	return func(ctx context.Context, _ endpoint.Floor) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// startConfig runs agents that start, by the id of their seat.
func startConfig(l coordinator.Log, p policyFunc, agents map[string]slowStart) coordinator.Config {
	cfg := config(l, p, count)
	cfg.Endpoint = func(_ context.Context, _ room.Spec, p room.Participant) (coordinator.Endpoint, error) {
		return agents[p.ID], nil
	}
	return cfg
}

func starting(ids ...string) []room.Participant {
	ps := agents(ids...)
	for i := range ps {
		ps[i].Starts = true
	}
	return ps
}

// eligible grants the floor to the eligible agent that has waited longest.
func eligible(in policy.Input) policy.Decision {
	var best *policy.Agent
	for i := range in.Agents {
		if a := &in.Agents[i]; a.Eligible && (best == nil || a.LastTurn < best.LastTurn) {
			best = a
		}
	}
	if best == nil {
		return policy.Decline("nobody can speak")
	}
	return policy.Speak(best.ID, "has waited longest")
}

// TestAgentsStart checks that agents start at the same time when the room opens,
// that none gets a turn before it is ready, and that the time of a start is not
// that of a turn.
func TestAgentsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		all := map[string]slowStart{
			"a": {count, startsAfter(4 * time.Second)},
			"b": {count, startsAfter(4 * time.Second)},
			"c": {func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
				time.Sleep(50 * time.Second)
				return count(ctx, p, f)
			}, startsAfter(90 * time.Second)},
		}
		r, err := coordinator.Open(t.Context(), startConfig(l, eligible, all), spec(room.Limits{MaxTurns: 3}), starting("a", "b", "c"))
		if err != nil {
			t.Fatal(err)
		}
		if v := r.View(); v.Seats[0].Phase != "starting" || v.Seats[2].Phase != "starting" {
			t.Errorf("opened with the seats %+v", v.Seats)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		ready := map[string]time.Duration{}
		for _, e := range events(t, l) {
			switch b := e.Body.(type) {
			case room.SeatReady:
				ready[b.Participant] = e.Clock
			case room.TurnGranted:
				if at, ok := ready[b.Participant]; !ok || e.Clock < 10*time.Second {
					t.Errorf("turn %d at %v: %s is ready at %v", b.Turn, e.Clock, b.Participant, at)
				}
			case room.TurnFailed, room.SeatFailed:
				t.Errorf("failed: %+v", b)
			}
		}
		if ready["a"] != 4*time.Second || ready["b"] != 4*time.Second {
			t.Errorf("ready at %v", ready)
		}
	})
}

// TestStartFails checks that a start that fails or takes too long follows the
// rules of restarts and maxFailures, and takes no turn.
func TestStartFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		tries := 0
		all := map[string]slowStart{
			"late": {count, startsAfter(time.Hour)},
			"dead": {count, func(context.Context, endpoint.Floor) error { return endpoint.ErrExited }},
			"poor": {count, func(context.Context, endpoint.Floor) error {
				if tries++; tries < 3 {
					return errors.Join(endpoint.ErrExited, endpoint.ErrInterrupted)
				}
				return nil
			}},
			"panics": {count, func(context.Context, endpoint.Floor) error { panic("oops") }},
		}
		r, err := coordinator.Open(t.Context(), startConfig(l, eligible, all), spec(room.Limits{MaxTurns: 4, StartTimeout: 2 * time.Minute}), starting("late", "dead", "poor", "panics"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		failed := map[string]int{}
		for _, e := range events(t, l) {
			switch b := e.Body.(type) {
			case room.SeatFailed:
				failed[b.Participant]++
			case room.TurnGranted:
				if b.Participant != "poor" {
					t.Errorf("%s has got a turn", b.Participant)
				}
			}
		}
		if failed["dead"] != 1 || failed["poor"] != 2 || failed["panics"] != 3 {
			t.Errorf("failures: %v", failed)
		}
		if v := r.View(); v.Seats[1].Phase != "suspended" || v.Seats[3].Phase != "suspended" || !strings.Contains(v.Seats[3].Why, "oops") {
			t.Errorf("seats: %+v", v.Seats)
		}
	})
}

// TestStartTimesOut checks that startTimeout bounds a start, also of an endpoint
// that ignores its deadline.
func TestStartTimesOut(t *testing.T) {
	for name, start := range map[string]func(context.Context, endpoint.Floor) error{
		"returns": startsAfter(time.Hour),
		"deaf":    func(context.Context, endpoint.Floor) error { time.Sleep(time.Hour); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &memory.Log{}
				ps := starting("a")
				ps[0].StartTimeout = 30 * time.Second
				r, err := coordinator.Open(t.Context(), startConfig(l, eligible, map[string]slowStart{"a": {count, start}}), spec(room.Limits{MaxFailures: 2}), ps)
				if err != nil {
					t.Fatal(err)
				}
				if err := r.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if v := r.View(); v.Phase != room.PhaseError || v.Clock < time.Minute || v.Clock > 62*time.Second || !strings.Contains(v.Seats[0].Why, "2 failures in a row") {
					t.Errorf("%s at %v: %+v", v.Phase, v.Clock, v.Seats[0])
				}
			})
		})
	}
}

// TestNoTurnForADeadAgent checks that an agent that moot has ended, because it did
// not answer, gets no further turn: its seat is suspended when the agent ends.
func TestNoTurnForADeadAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		starts := 0
		all := map[string]slowStart{
			"a": {func(ctx context.Context, _ endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
				<-ctx.Done()
				return endpoint.Reply{}, endpoint.ErrTimeout
			}, func(context.Context, endpoint.Floor) error {
				if starts++; starts == 1 {
					return nil
				}
				time.Sleep(5 * time.Second) // its time for a late answer
				return endpoint.ErrExited
			}},
			"b": {count, startsAfter(0)},
		}
		r, err := coordinator.Open(t.Context(), startConfig(l, eligible, all), spec(room.Limits{MaxTurns: 4}), starting("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := types(events(t, l))
		if n := len(slices.DeleteFunc(slices.Clone(got), func(s string) bool { return s != "turn.failed" })); n != 1 {
			t.Errorf("%d turns failed: %v", n, got)
		}
		if v := r.View(); v.Seats[0].Phase != "suspended" || v.Seats[0].Turns != 1 || v.Seats[1].Turns != 3 {
			t.Errorf("seats: %+v", v.Seats)
		}
	})
}

// TestExitBetweenTurns checks that an agent that ends between its turns is
// suspended at once or started again.
func TestExitBetweenTurns(t *testing.T) {
	for _, code := range []string{endpoint.ExitedForGood, endpoint.ExitedRestarts} {
		t.Run(code, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &memory.Log{}
				starts := 0
				all := map[string]slowStart{
					"a": {func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
						if p.Turn == 1 {
							go func() {
								time.Sleep(time.Second)
								f.Raise(context.Background(), endpoint.Signal{Kind: endpoint.SignalExited, Code: code, Detail: "killed"})
							}()
						}
						return count(ctx, p, f)
					}, func(context.Context, endpoint.Floor) error { starts++; return nil }},
					"b": {func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
						time.Sleep(10 * time.Second)
						return count(ctx, p, f)
					}, startsAfter(0)},
				}
				r, err := coordinator.Open(t.Context(), startConfig(l, eligible, all), spec(room.Limits{MaxTurns: 3}), starting("a", "b"))
				if err != nil {
					t.Fatal(err)
				}
				if err := r.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				has(t, l, "seat.failed")
				again := code == endpoint.ExitedRestarts
				if v := r.View(); (v.Seats[0].Phase == "suspended") == again || (v.Seats[0].Turns == 2) != again || (starts == 2) != again {
					t.Errorf("%d starts, seats %+v", starts, v.Seats)
				}
			})
		})
	}
}

// TestPauseDuringStart checks that a pause cancels a start, and that the room goes
// on with it.
func TestPauseDuringStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		cfg := startConfig(l, eligible, map[string]slowStart{"a": {count, startsAfter(10 * time.Second)}})
		cfg.Headless = false
		r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{MaxTurns: 1}), starting("a"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		time.Sleep(5 * time.Second)
		for _, do := range []room.Act{room.Pause{}, room.Resume{}} {
			if _, err := r.Do(t.Context(), room.Command{Actor: room.ActorHost, Do: do}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		if v := r.View(); v.Phase != room.PhaseStopped || v.Seats[0].Turns != 1 || v.Seats[0].Failures != 0 {
			t.Errorf("%s, seats %+v", v.Phase, v.Seats)
		}
		cancel()
		<-done
	})
}

// TestStartsDoNotWakeARoom checks that a room that waits for a person is not
// loaded again and again because its agents start.
func TestStartsDoNotWakeARoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		var starts atomic.Int64
		all := map[string]slowStart{
			"a": {count, func(context.Context, endpoint.Floor) error { starts.Add(1); return nil }},
			"b": {count, func(context.Context, endpoint.Floor) error { starts.Add(1); return nil }},
		}
		h := &coordinator.Host{Config: startConfig(l, eligible, all), Due: l.Due, IdleAfter: time.Minute}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { h.Run(ctx); close(done) }()
		ps := starting("a", "b")
		ps[0].Mode = room.Manual
		if _, err := h.Create(t.Context(), spec(room.Limits{}), ps, coordinator.RunOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		if _, err := h.Get(t.Context(), "r1"); err != nil { // a person looks at the room
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		if starts.Load() > 4 || h.Loaded() != 0 {
			t.Errorf("%d starts, %d rooms loaded: %v", starts.Load(), h.Loaded(), types(events(t, l)))
		}
		cancel()
		<-done
	})
}
