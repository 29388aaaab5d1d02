package coordinator_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// TestPauseOfAbsentCaller checks that a pause takes effect when its caller does
// not wait for the log.
func TestPauseOfAbsentCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &stalling{Log: &memory.Log{}}
		sent := 0
		r, err := coordinator.Open(t.Context(), config(l, rotate, func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			sent++
			return count(ctx, p, f)
		}), spec(room.Limits{}), agents("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		l.stall = 30 * time.Second
		done := make(chan error)
		go func() { done <- r.Run(t.Context()) }()
		time.Sleep(time.Second) // the first grant is being written
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.Do(ctx, room.Command{Actor: room.ActorHost, Do: room.Pause{}}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Do returned %v", err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if v := r.View(); sent != 0 || v.Phase != room.PhasePaused || v.Clock > time.Minute {
			t.Errorf("%d prompts left; the room is %s at %v", sent, v.Phase, v.Clock)
		}
	})
}

// TestPauseSentTwice repeats a pause after the room was resumed: the room stays
// live, and the turn that the gate cancelled does not count as a failure.
func TestPauseSentTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		slow := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			select {
			case <-time.After(10 * time.Second):
				return count(ctx, p, f)
			case <-ctx.Done():
				return endpoint.Reply{}, ctx.Err()
			}
		}
		cfg := config(l, rotate, slow)
		cfg.Headless = false
		r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{MaxTurns: 3}), agents("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		for _, c := range []room.Command{{ID: "p1", Do: room.Pause{}}, {Do: room.Resume{}}, {ID: "p1", Do: room.Pause{}}} {
			time.Sleep(time.Second)
			c.Actor = room.ActorHost
			if _, err := r.Do(t.Context(), c); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(time.Minute)
		if v := r.View(); v.Phase != room.PhaseStopped || v.Tally.Errors != 0 || v.Tally.Messages != 1 {
			t.Errorf("the room is %s: %+v", v.Phase, v.Tally)
		}
		cancel()
		<-done
	})
}

// TestDeafBidder checks that an agent that does not answer a request for a bid
// does not delay the round.
func TestDeafBidder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		go func() { time.Sleep(10 * time.Minute); close(release) }()
		s := spec(room.Limits{MaxTurns: 1})
		s.Policy.Needs.Bids = true
		deaf := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			if p.Kind == endpoint.Bid && p.You.ID == "b" {
				<-release
			}
			return count(ctx, p, f)
		}
		r, err := coordinator.Open(t.Context(), config(&memory.Log{}, rotate, deaf), s, agents("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if v := r.View(); v.Tally.Messages != 1 || v.Clock != 11*time.Second {
			t.Errorf("%d messages at %v, want one a second after the bids' time-out", v.Tally.Messages, v.Clock)
		}
	})
}

// TestHostOfEndedRoom checks that a room that has ended for good answers
// commands, can be watched, and is unloaded when it is idle.
func TestHostOfEndedRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		finish := func(policy.Input) policy.Decision { return policy.Finish("done") }
		h := &coordinator.Host{Config: config(l, finish, count), Due: l.Due, IdleAfter: time.Minute}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { h.Run(ctx); close(done) }()
		r, err := h.Create(t.Context(), spec(room.Limits{}), agents("a"), coordinator.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		watched := 0
		for u := range r.Watch(t.Context(), 0, room.Internal) {
			if u.Event != nil {
				watched++
			}
		}
		if _, err := h.Create(t.Context(), spec(room.Limits{}), agents("a"), coordinator.RunOptions{}); err == nil {
			t.Error("the room was made twice")
		}
		for range 2 {
			do, stop := context.WithTimeout(t.Context(), time.Second)
			if _, err := h.Do(do, "r1", room.Command{Actor: room.ActorHost, Do: room.Say{Text: "hello?"}}); !errors.Is(err, room.ErrOver) {
				t.Errorf("Do returned %v", err)
			}
			stop()
			time.Sleep(5 * time.Minute)
			if n := h.Loaded(); n != 0 {
				t.Errorf("%d rooms loaded", n)
			}
		}
		if _, err := h.Do(t.Context(), "r1", room.Command{Actor: room.ActorHost, Do: room.SetStanding{Participant: "a", Standing: room.Muted}}); err != nil {
			t.Error(err)
		}
		if n := len(events(t, l)); watched != 4 || n > 7 {
			t.Errorf("%d events were watched, %d stored", watched, n)
		}
		cancel()
		<-done
	})
}
