package coordinator_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// TestHostKeepsSessions checks that a room stays loaded while a session holds a seat
// of it, rests without an event while the session is away, and is unloaded then.
func TestHostKeepsSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		park := func(ctx context.Context, _ endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
			<-ctx.Done()
			return endpoint.Reply{}, ctx.Err()
		}
		h := &coordinator.Host{Config: config(l, rotate, park), Due: l.Due, IdleAfter: time.Minute}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { h.Run(ctx); close(done) }()
		ps := agents("a")
		ps[0].Session = true
		if _, err := h.Create(t.Context(), spec(room.Limits{MaxDuration: 50 * time.Hour}), ps, coordinator.RunOptions{}); err != nil {
			t.Fatal(err)
		}
		do := func(do room.Act) {
			t.Helper()
			if _, err := h.Do(t.Context(), "r1", room.Command{Actor: room.ActorHost, Do: do}); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(what string, loaded int, want ...string) {
			t.Helper()
			n := len(events(t, l))
			time.Sleep(time.Hour)
			all := types(events(t, l))
			if len(all) != n || !slices.Equal(all[n-len(want):], want) || h.Loaded() != loaded {
				t.Errorf("%s: %d rooms loaded, and the events end with %v; an hour ago there were %d", what, h.Loaded(), all[max(0, n-5):], n)
			}
		}
		expect("before the session", 0, "room.claimed")
		do(room.Present{Participant: "a", Presence: room.Live})
		time.Sleep(time.Minute)
		do(room.Present{Participant: "a", Presence: room.Away})
		expect("after it has left its turn", 0, "presence.changed", "turn.granted", "turn.interrupted", "presence.changed")
		do(room.Pause{})
		do(room.Present{Participant: "a", Presence: room.Live})
		expect("while it waits in a paused room", 1, "room.paused", "presence.changed")
		do(room.Present{Participant: "a", Presence: room.Away})
		expect("when it has left the paused room", 0, "presence.changed")
		cancel()
		<-done
	})
}
