package coordinator_test

import (
	"context"
	"errors"
	"reflect"
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
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/memory"
)

// A hookedLog calls before with the types of the events of each append that begins.
type hookedLog struct {
	*memory.Log
	before func(types string) error
	wake   time.Time   // of the newest append
	unread atomic.Bool // it cannot be read any more
}

func (l *hookedLog) Append(ctx context.Context, id string, after log.Pos, wake time.Time, evs ...room.Event) (log.Pos, bool, error) {
	if err := l.before(strings.Join(types(evs), " ")); err != nil {
		return log.Pos{}, false, err
	}
	l.wake = wake
	return l.Log.Append(ctx, id, after, wake, evs...)
}

func (l *hookedLog) Read(ctx context.Context, id string, after log.Pos, n int) ([]log.Entry, error) {
	if l.unread.Load() {
		return nil, errors.New("unreadable")
	}
	return l.Log.Read(ctx, id, after, n)
}

// The types of the events at the end of a turn and of the decision after it.
const turnEnd, decision = "message.posted", "turn.granted"

// openAhead opens a room whose policy is quick, and which has a person.
func openAhead(t *testing.T, l coordinator.Log, p coordinator.Policy, s speakFunc, turns int) *coordinator.Room {
	t.Helper()
	cfg := config(l, nil, s)
	cfg.Policy = func(context.Context, room.PolicyRef) (coordinator.Policy, error) { return quick{p}, nil }
	seats := append(agents("a", "b"), room.Participant{ID: "me", Kind: policy.Human})
	r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{MaxTurns: turns}), seats)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// inTurn grants the floor to a and b in turn.
func inTurn(in policy.Input) policy.Decision {
	return policy.Speak([]string{"a", "b"}[in.Turn%2], "next in turn")
}

// TestDecisionWithTurnEnd checks that one append stores the end of a turn and the decision
// of a quick policy after it, and that the audit has both with their seats.
func TestDecisionWithTurnEnd(t *testing.T) {
	for _, isQuick := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var appends, audit []string
			l := &hookedLog{Log: &memory.Log{}, before: func(types string) error { appends = append(appends, types); return nil }}
			cfg := config(l, nil, func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
				if p.Turn == 2 {
					return endpoint.Reply{Outcome: endpoint.Passed}, nil
				}
				return count(ctx, p, f)
			})
			cfg.Policy = func(context.Context, room.PolicyRef) (coordinator.Policy, error) {
				return quickIf(isQuick, policyFunc(rotate)), nil
			}
			cfg.Audit = func(a coordinator.AuditEntry) error { audit = append(audit, a.Status+" "+a.Profile); return nil }
			r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{MaxTurns: 3}), agents("a", "b"))
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := []string{decision, turnEnd + " " + decision, "turn.passed " + decision, turnEnd + " room.stopped"}
			if !isQuick {
				want = []string{decision, turnEnd, decision, "turn.passed", decision, turnEnd + " room.stopped"}
			}
			if got := appends[len(appends)-len(want):]; !slices.Equal(got, want) {
				t.Errorf("quick %t: appends\n got %q\nwant %q", isQuick, got, want)
			}
			if want := []string{"granted a", "posted a", "granted b", "passed b", "granted a", "posted a"}; !slices.Equal(audit, want) {
				t.Errorf("quick %t: audit entries\n got %q\nwant %q", isQuick, audit, want)
			}
		})
	}
}

// TestPersonBeforeDecision checks that a command that comes while the policy decides about
// the next turn precedes the decision, and that the policy is asked again, also when the
// command is refused.
func TestPersonBeforeDecision(t *testing.T) {
	for _, person := range []string{"me", "a stranger"} {
		synctest.Test(t, func(t *testing.T) {
			l := &memory.Log{}
			var r *coordinator.Room
			asked := 0
			r = openAhead(t, l, policyFunc(func(in policy.Input) policy.Decision {
				if asked++; asked == 2 {
					go r.Do(t.Context(), room.Command{Actor: person, Do: room.Say{Text: "wait"}})
					time.Sleep(time.Millisecond) // until the command waits
				}
				return inTurn(in)
			}), count, 2)
			if err := r.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := []string{decision, turnEnd, turnEnd, decision, turnEnd, "room.stopped"}
			if person != "me" {
				want = slices.Delete(want, 2, 3)
			}
			evs := events(t, l)[5:]
			if got := types(evs); !slices.Equal(got, want) || asked != 3 {
				t.Errorf("%s: events %q after %d decisions, want %q after 3", person, got, asked, want)
				return
			}
			at := len(want) - 3
			if rec := room.RecordOf(evs[at]); rec.Through != evs[at-1].Seq || rec.Decision != 2 {
				t.Errorf("%s: the decision after the command has the record %+v", person, rec)
			}
		})
	}
}

// TestPauseBeforeDecision checks that a pause that comes while the policy decides about the
// next turn keeps the end of the turn and drops the decision.
func TestPauseBeforeDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		asked := make(chan policy.Input, 9)
		r := openAhead(t, l, slow{asked}, count, 2)
		done := make(chan error)
		go func() { done <- r.Run(t.Context()) }()
		<-asked
		<-asked // about the second turn, a second later
		before := time.Now()
		do(t, r, room.Pause{})
		if took := time.Since(before); took > 0 {
			t.Errorf("the pause waited %s for the policy", took)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		want := []string{decision, turnEnd, "room.paused"}
		if got := types(events(t, l))[5:]; !slices.Equal(got, want) {
			t.Errorf("events %q, want %q", got, want)
		}
	})
}

// TestReadersOfStoredEvents checks that readers see no event before it is stored, that they
// do not wait for a disk that stalls, and that they see what is stored after it has failed.
func TestReadersOfStoredEvents(t *testing.T) {
	for _, c := range []struct {
		name   string
		fails  error
		unread bool
	}{{"stalls", nil, false}, {"fails", log.ErrFailed, false}, {"fails, and cannot be read", log.ErrFailed, true}} {
		synctest.Test(t, func(t *testing.T) {
			l := &hookedLog{Log: &memory.Log{}}
			var stalled atomic.Bool
			l.before = func(types string) error {
				if types == turnEnd+" "+decision {
					stalled.Store(true)
					time.Sleep(30 * time.Second)
					l.unread.Store(c.unread)
					return c.fails
				}
				return nil
			}
			r := openAhead(t, l, policyFunc(inTurn), count, 2)
			done := make(chan error)
			go func() { done <- r.Run(t.Context()) }()
			time.Sleep(time.Second) // the append is under way
			if !stalled.Load() {
				t.Fatal("the end of the turn was not stored with the decision")
			}
			stored := room.View{}
			for range 2 {
				before := time.Now()
				v := r.View()
				if took := time.Since(before); took > 250*time.Millisecond {
					t.Errorf("%s: a reader waited %s", c.name, took)
				}
				if v.Seq != 6 || v.Turn != 1 || v.Tally.Messages != 0 {
					t.Errorf("%s: a reader saw event %d, turn %d and %d messages, before they were stored", c.name, v.Seq, v.Turn, v.Tally.Messages)
				}
				stored = v
			}
			err := <-done
			switch v := r.View(); {
			case c.fails == nil && (err != nil || v.Tally.Messages != 2):
				t.Errorf("the run ended with %v after %d messages", err, v.Tally.Messages)
			case c.fails == nil:
			case !errors.Is(err, c.fails):
				t.Errorf("%s: the run ended with %v", c.name, err)
			case c.unread && (v.Phase != room.PhaseError || v.Tally.Messages != 0):
				t.Errorf("%s: readers see the phase %s and %d messages", c.name, v.Phase, v.Tally.Messages)
			case !c.unread && !reflect.DeepEqual(v, stored):
				t.Errorf("%s: readers see\n%+v\nstored is\n%+v", c.name, v, stored)
			}
		})
	}
}

// TestEndDuringDecision checks that the end of the process during a decision keeps the end
// of the turn before it, and is not taken for a fault of the policy.
func TestEndDuringDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		asked := make(chan policy.Input, 9)
		r := openAhead(t, l, slow{asked}, count, 2)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		<-asked
		<-asked // about the second turn
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if got := types(events(t, l))[5:]; !slices.Equal(got, []string{decision, turnEnd}) {
			t.Errorf("events %q", got)
		}
	})
}

// TestWakeAfterDecision checks that the log wakes the room when the decision says so, and
// not at the end of the turn before it.
func TestWakeAfterDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &hookedLog{Log: &memory.Log{}}
		var declined time.Time
		l.before = func(types string) error {
			if types == turnEnd+" round.declined" {
				declined = time.Now()
			}
			return nil
		}
		r := openAhead(t, l, policyFunc(func(in policy.Input) policy.Decision {
			if in.Turn == 2 {
				return policy.Decision{Action: policy.ActionDecline, Reason: "later", RetryMS: 40_000}
			}
			return inTurn(in)
		}), count, 2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if want := declined.Add(40 * time.Second); declined.IsZero() || !l.wake.Equal(want) {
			t.Errorf("after the decline at %v the room wakes at %v, want 40 s later", declined, l.wake)
		}
	})
}

// TestDelayAfterTurn checks that the policy is not asked at the end of a turn while an
// agent starts that may be chosen soon.
func TestDelayAfterTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		start := time.Now()
		var asked []time.Duration
		say := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			time.Sleep(2 * time.Second)
			return count(ctx, p, f)
		}
		cfg := startConfig(l, func(in policy.Input) policy.Decision {
			asked = append(asked, time.Since(start))
			return policy.Speak("a", "the first")
		}, map[string]slowStart{"a": {say, startsAfter(0)}, "b": {say, startsAfter(3 * time.Second)}})
		r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{MaxTurns: 2}), starting("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- r.Run(t.Context()) }()
		time.Sleep(4 * time.Second) // b is ready after 3 s, and a has the turn until 5 s
		for _, standing := range []room.Standing{room.Suspended, room.Active} {
			do(t, r, room.SetStanding{Participant: "b", Standing: standing})
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if want := []time.Duration{3 * time.Second, 7 * time.Second}; !slices.Equal(asked, want) {
			t.Errorf("the policy was asked after %v, want %v", asked, want)
		}
	})
}

// TestOtherPolicyAfterTurn checks that the end of a turn does not wait for a policy that a
// person has chosen during the turn, and that has to be loaded.
func TestOtherPolicyAfterTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		cfg := config(l, nil, func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			time.Sleep(time.Second)
			return count(ctx, p, f)
		})
		cfg.Policy = func(_ context.Context, ref room.PolicyRef) (coordinator.Policy, error) {
			if ref.Digest == "other" {
				time.Sleep(time.Minute)
			}
			return quick{policyFunc(rotate)}, nil
		}
		r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{MaxTurns: 2}), agents("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- r.Run(t.Context()) }()
		synctest.Wait()
		do(t, r, room.SetPolicy{Policy: room.PolicyRef{Use: "rotate", Name: "rotate", Digest: "other"}})
		time.Sleep(2 * time.Second)
		if v := r.View(); v.Tally.Messages != 1 {
			t.Errorf("a second after the turn %d messages are stored", v.Tally.Messages)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}

// TestLeavesAfterTurn checks that a room that is released during a turn leaves at its end.
func TestLeavesAfterTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		cfg := config(l, rotate, func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			time.Sleep(time.Second)
			return count(ctx, p, f)
		})
		h := &coordinator.Host{Config: cfg, Due: l.Due, IdleAfter: time.Hour}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- h.Run(ctx) }()
		if _, err := h.Create(ctx, spec(room.Limits{MaxTurns: 9}), agents("a", "b"), coordinator.RunOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second / 2) // in the first turn
		if _, err := h.Release(ctx, "r1"); err != nil {
			t.Fatal(err)
		}
		if got := types(events(t, l))[4:]; !slices.Equal(got, []string{decision, turnEnd}) {
			t.Errorf("events %q", got)
		}
		cancel()
		<-done
	})
}
