package coordinator_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// quick is a policy that the loop of a room asks itself.
type quick struct{ coordinator.Policy }

func (quick) Quick() bool { return true }

// quickIf returns p, as a quick policy if isQuick is set.
func quickIf(isQuick bool, p coordinator.Policy) coordinator.Policy {
	if isQuick {
		return quick{p}
	}
	return p
}

// callerCounter is a policy that counts its decisions in the loop of the room and outside.
type callerCounter struct {
	policyFunc
	inLoop map[bool]int
}

func (w callerCounter) Propose(ctx context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	stack := make([]byte, 1<<16)
	stack = stack[:runtime.Stack(stack, false)]
	w.inLoop[strings.Contains(string(stack), "(*Room).Run(")]++
	return w.policyFunc.Propose(ctx, in)
}

// TestQuickPolicy checks that the loop makes the decisions of a quick policy, and those
// of no other.
func TestQuickPolicy(t *testing.T) {
	for _, isQuick := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := callerCounter{rotate, map[bool]int{}}
			cfg := config(&memory.Log{}, nil, count)
			cfg.Policy = func(context.Context, room.PolicyRef) (coordinator.Policy, error) { return quickIf(isQuick, w), nil }
			r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{MaxTurns: 5}), agents("a", "b"))
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if v := r.View(); v.Tally.Turns != 5 || w.inLoop[isQuick] != 5 || w.inLoop[!isQuick] != 0 {
				t.Errorf("quick %t: %d turns; decisions in the loop and outside %v", isQuick, v.Tally.Turns, w.inLoop)
			}
		})
	}
}

// TestPauseDuringDecision checks that a pause ends a decision, also of a policy that the
// loop waits for, that the decision has no effect, and that the policy is asked again
// after the pause.
func TestPauseDuringDecision(t *testing.T) {
	for _, isQuick := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l, asked := &memory.Log{}, make(chan policy.Input, 9)
			cfg := config(l, nil, count)
			cfg.Headless = false
			cfg.Policy = func(context.Context, room.PolicyRef) (coordinator.Policy, error) {
				return quickIf(isQuick, slow{asked}), nil
			}
			r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{MaxTurns: 1}), agents("a"))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- r.Run(ctx) }()
			<-asked
			before := time.Now()
			do(t, r, room.Pause{})
			if took := time.Since(before); took > 0 {
				t.Errorf("quick %t: the pause waited %s for the policy", isQuick, took)
			}
			time.Sleep(time.Hour)
			if v := r.View(); v.Phase != room.PhasePaused || v.Tally.Turns != 0 || v.Turn != 0 {
				t.Errorf("quick %t: after the pause the room is %s, with %d turns", isQuick, v.Phase, v.Tally.Turns)
			}
			do(t, r, room.Resume{})
			time.Sleep(time.Hour)
			if n := len(asked); n != 1 || r.View().Tally.Turns != 1 {
				t.Errorf("quick %t: after the resume the policy was asked %d times, for %d turns", isQuick, n, r.View().Tally.Turns)
			}
			cancel()
			<-done
		})
	}
}
