package coordinator_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// TestHostUnderChurn checks that each command is executed exactly once while its
// room is unloaded and loaded again.
func TestHostUnderChurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		mute := func(policy.Input) policy.Decision { return policy.Decline("nothing to add") }
		h := &coordinator.Host{
			Config: config(l, mute, count), Due: l.Due, IdleAfter: 4 * time.Millisecond,
			Failed: func(id string, err error) { t.Errorf("room %s: %v", id, err) },
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { h.Run(ctx); close(done) }()
		s := spec(room.Limits{MaxDeclines: 1 << 20, MaxDuration: time.Hour})
		s.Objective = "" // nothing that would open the conversation
		if _, err := h.Create(t.Context(), s, append(agents("a"), room.Participant{ID: "me", Kind: policy.Human}), coordinator.RunOptions{}); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				for j := range 80 {
					time.Sleep(time.Duration((i*7+j*13)%23) * time.Millisecond)
					c := room.Command{ID: fmt.Sprintf("c%d.%d", i, j), Actor: "me", Do: room.Say{Text: fmt.Sprint("hello ", i, j)}}
					if _, err := h.Do(t.Context(), "r1", c); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		said, claims := 0, 0
		for _, typ := range types(events(t, l)) {
			switch typ {
			case "message.posted":
				said++
			case "room.claimed":
				claims++
			}
		}
		if said != 240 || claims < 20 {
			t.Errorf("%d messages of 240 are stored, the room was loaded %d times", said, claims)
		}
		cancel()
		<-done
	})
}
