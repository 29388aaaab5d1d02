package coordinator_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// silent declines each round.
func silent(policy.Input) policy.Decision {
	d := policy.Decline("a person decides")
	d.RetryMS = 60_000
	return d
}

// TestConcurrentClaims lets two workers claim each of 100 tasks at the same time. Each
// task gets one owner, and the other worker is told who that is.
func TestConcurrentClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ps := agents("m", "w", "v")
		ps[0].Role, ps[1].Role, ps[2].Role = "manager", "worker", "worker"
		r, err := coordinator.Open(t.Context(), config(&memory.Log{}, silent, count), spec(room.Limits{MaxDeclines: 1 << 30, MaxDuration: 1 << 60}), ps)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		tasks := ""
		for i := range 100 {
			tasks += fmt.Sprintf(`{"id":"t%d","title":"x"},`, i)
		}
		brief := room.Message{Kind: "intent_brief", To: "w", Payload: []byte(`{"tasks":[` + tasks[:len(tasks)-1] + `]}`)}
		if evs, err := r.Do(ctx, room.Command{Actor: "m", Do: room.Posted{Message: brief}}); err != nil || room.Refusal(evs) != nil {
			t.Fatal(err, room.Refusal(evs))
		}
		var won, lost atomic.Int32
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				id := []string{"w", "v"}[i%2]
				_, err := r.Do(ctx, room.Command{Actor: id, Do: room.ClaimTask{Task: fmt.Sprint("t", i/2)}})
				coded, _ := err.(problem.Coded)
				switch {
				case err == nil:
					won.Add(1)
				case coded != nil && coded.ErrorCode() == "ROOM-CLAIMED":
					lost.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if won.Load() != 100 || lost.Load() != 100 {
			t.Errorf("%d claims won and %d lost", won.Load(), lost.Load())
		}
		for _, x := range r.View().Tasks {
			if x.Owner != "w" && x.Owner != "v" {
				t.Errorf("task %s is of %q", x.ID, x.Owner)
			}
		}
		stop()
		<-done
	})
}
