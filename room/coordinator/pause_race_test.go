package coordinator_test

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// pausesOfARoom is how often TestPauseRaces pauses one room, whose log is in memory.
const pausesOfARoom = 500

// TestPauseRaces pauses rooms at random moments, while agents answer at once. Between
// the moment at which a pause is acknowledged and the next resume, no endpoint is given a
// prompt with a context that still stands; endpoints look at it before they send.
// MOOT_PAUSE_RACES sets the number of pauses, such as 1000000.
func TestPauseRaces(t *testing.T) {
	races := 2 * pausesOfARoom
	if n, err := strconv.Atoi(os.Getenv("MOOT_PAUSE_RACES")); err == nil {
		races = n
	}
	rng := rand.New(rand.NewPCG(13, 13))
	sent := int64(0)
	for done := 0; done < races && !t.Failed(); done += pausesOfARoom {
		sent += pauseOften(t, rng, done/pausesOfARoom%2 == 1)
	}
	if sent == 0 {
		t.Error("no prompt was sent: the pauses meet no turns")
	}
	t.Logf("%d pauses, %d prompts", races, sent)
}

// pauseOften pauses one room often, and returns how many prompts were sent.
func pauseOften(t *testing.T, rng *rand.Rand, isQuick bool) int64 {
	var paused atomic.Bool
	var sent, late atomic.Int64
	agent := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
		if sent.Add(1); paused.Load() && ctx.Err() == nil {
			late.Add(1)
		}
		return count(ctx, p, f)
	}
	cfg := config(&memory.Log{}, nil, agent)
	cfg.Policy = func(context.Context, room.PolicyRef) (coordinator.Policy, error) {
		return quickIf(isQuick, policyFunc(rotate)), nil
	}
	cfg.Headless = false
	r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{MaxTurns: 1 << 30, MaxTokens: 1 << 40}), agents("a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	for range pausesOfARoom {
		for range rng.IntN(40) {
			runtime.Gosched()
		}
		do(t, r, room.Pause{})
		paused.Store(true)
		for range rng.IntN(10) {
			runtime.Gosched()
		}
		paused.Store(false)
		do(t, r, room.Resume{})
	}
	cancel()
	<-ended
	if n := late.Load(); n > 0 {
		t.Errorf("%d prompts could be sent after a pause was acknowledged", n)
	}
	return sent.Load()
}

func do(t *testing.T, r *coordinator.Room, act room.Act) {
	t.Helper()
	if _, err := r.Do(t.Context(), room.Command{Actor: room.ActorHost, Do: act}); err != nil {
		t.Fatal(err)
	}
}
