package coordinator_test

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// pausesAbove is how often TestPauseRacesBelow pauses one room.
const pausesAbove = 40

// TestPauseRacesBelow is TestPauseRaces for calls of calls: a pause of a room holds the
// prompts of all rooms below it from the moment at which it is acknowledged. No call is
// lost by it: each ends with a result. MOOT_PAUSE_RACES sets the number of pauses.
func TestPauseRacesBelow(t *testing.T) {
	races := 2 * pausesAbove
	if n, err := strconv.Atoi(os.Getenv("MOOT_PAUSE_RACES")); err == nil {
		races = n
	}
	rng := rand.New(rand.NewPCG(15, 15))
	var sent [3]int64
	for done := 0; done < races && !t.Failed(); done += pausesAbove {
		for depth, n := range pauseAbove(t, rng) {
			sent[depth] += n
		}
	}
	if sent[1] == 0 || sent[2] == 0 {
		t.Error("no prompt was sent below: the pauses meet no calls")
	}
	t.Logf("%d pauses, prompts at each depth: %v", races, sent)
}

// pauseAbove pauses a room with calls often, and returns how many prompts were sent at
// each depth.
func pauseAbove(t *testing.T, rng *rand.Rand) (n [3]int64) {
	var paused atomic.Bool
	var late, all atomic.Int64
	var sent [3]atomic.Int64
	depths := map[string]int{"lead": 0, "a": 1, "b": 2}
	next := map[string]string{"lead": "a", "a": "b"}
	agent := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
		if sent[depths[p.You.ID]].Add(1); paused.Load() && ctx.Err() == nil {
			late.Add(1)
		}
		all.Add(1)
		if to := next[p.You.ID]; to != "" {
			_, _ = raiseCall(ctx, f, `{"agent_name":"`+to+`","task":"x","allow_nested_calls":true}`) // a pause ends the wait
		}
		return count(ctx, p, f)
	}
	l := &memory.Log{}
	ps := agents("lead", "a", "b")
	ps[0].Calls, ps[1].Calls = room.CallsAllow, room.CallsAllow
	var over atomic.Bool
	toLead := func(policy.Input) policy.Decision {
		if over.Load() {
			return policy.Decline("the pauses are over")
		}
		return policy.Speak("lead", "it goes on")
	}
	cfg := config(l, toLead, agent)
	cfg.Headless = false
	r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{MaxTurns: 1 << 30, MaxTokens: 1 << 40, MaxCalls: 1 << 30, MaxRing: 1 << 30, PairRate: 1 << 20, PairBurst: 1 << 20, MaxInternal: 1 << 30, MaxPingPong: 1 << 30}), ps)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	for range pausesAbove {
		for before, n := all.Load(), rng.Int64N(6); all.Load() < before+n; {
			runtime.Gosched()
		}
		do(t, r, room.Pause{})
		paused.Store(true)
		for range rng.IntN(20) {
			runtime.Gosched()
		}
		paused.Store(false)
		do(t, r, room.Resume{})
	}
	over.Store(true)
	untilCalls(t, r)
	cancel()
	<-ended
	if n := late.Load(); n > 0 {
		t.Errorf("%d prompts could be sent after a pause was acknowledged", n)
	}
	for i := range sent {
		n[i] = sent[i].Load()
	}
	return n
}

// untilCalls waits until the calls of a room have ended, none of them for want of time.
func untilCalls(t *testing.T, r *coordinator.Room) {
	t.Helper()
	for range r.Watch(t.Context(), 0, room.Internal) {
		open := false
		for _, c := range r.Calls() {
			open = open || c.State.Open()
			if c.Result != nil && strings.Contains(strings.Join(c.Result.Errors, " "), "no result within") {
				t.Fatalf("%+v", c.Result)
			}
		}
		if !open {
			return
		}
	}
}
