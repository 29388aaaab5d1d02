package coordinator_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// TestHostWaitsForAPerson checks that a room that waits for a person is unloaded
// until the person comes, and is then in the same state.
func TestHostWaitsForAPerson(t *testing.T) {
	for _, mode := range []room.Mode{room.Manual, room.FullAuto} {
		synctest.Test(t, func(t *testing.T) {
			l := &memory.Log{}
			slow := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
				time.Sleep(time.Second)
				return count(ctx, p, f)
			}
			h := &coordinator.Host{Config: config(l, rotate, slow), Due: l.Due, IdleAfter: time.Minute}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { h.Run(ctx); close(done) }()
			ps := agents("a")
			ps[0].Mode = mode
			if _, err := h.Create(t.Context(), spec(room.Limits{MaxDuration: 20 * time.Minute}), ps, coordinator.RunOptions{}); err != nil {
				t.Fatal(err)
			}
			if mode == room.FullAuto { // a person has the seat instead of a draft; the answer comes late
				time.Sleep(time.Second / 2)
				if _, err := h.Do(t.Context(), "r1", room.Command{Actor: room.ActorHost, Do: room.TakeOver{Participant: "a"}}); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(10 * time.Second)
			n := len(events(t, l))
			time.Sleep(2 * time.Hour)
			if got := len(events(t, l)); got != n || h.Loaded() != 0 {
				t.Errorf("%s: %d rooms loaded, %d events more than there were: %v", mode, h.Loaded(), got-n, types(events(t, l)[n:]))
			}
			r, err := h.Get(t.Context(), "r1")
			if err != nil {
				t.Fatal(err)
			}
			if v := r.View(); v.Phase != room.PhaseLive || (v.Draft == nil) != (mode == room.FullAuto) || v.Turn == 0 {
				t.Errorf("%s: the room is %s with draft %v at turn %d", mode, v.Phase, v.Draft, v.Turn)
			}
			time.Sleep(2 * time.Hour)
			if got := len(events(t, l)); got != n+1 {
				t.Errorf("%s: looked at once, %d events more than there were", mode, got-n)
			}
			cancel()
			<-done
		})
	}
}

// TestSnapshotKeepsThePolicysState checks that a snapshot keeps the bytes of a
// policy's state.
func TestSnapshotKeepsThePolicysState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		angry := func(in policy.Input) policy.Decision {
			d := rotate(in)
			d.State = policy.JSON(`{"seen":"<b>&\u2028</b>"}`)
			if in.State != nil && string(in.State) != string(d.State) {
				t.Errorf("decision %d was given the state %s", in.Decision, in.State)
			}
			return d
		}
		s := spec(room.Limits{MaxTurns: 60})
		s.OnRestart = room.RestartContinue
		run := func(open func(coordinator.Config) (*coordinator.Room, error), until int) {
			r, err := open(config(l, angry, func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
				if p.Turn == until {
					<-ctx.Done()
					return endpoint.Reply{}, ctx.Err()
				}
				return count(ctx, p, f)
			}))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			r.Run(ctx)
		}
		run(func(c coordinator.Config) (*coordinator.Room, error) {
			return coordinator.Open(t.Context(), c, s, agents("a", "b"))
		}, 50)
		if snap, err := l.Snapshot(t.Context(), "r1"); err != nil || strings.Contains(string(snap.Data), `\u003c`) {
			t.Errorf("snapshot (%v) holds escapes", err)
		}
		run(func(c coordinator.Config) (*coordinator.Room, error) { return coordinator.Reopen(t.Context(), c, "r1") }, 0)
		if n := len(events(t, l)); n < 120 {
			t.Errorf("only %d events", n)
		}
	})
}

// TestRedactionWithLargePolicyState redacts a message while watchers watch and
// the log has only the digest of the policy's state: the room goes on and can be
// opened again.
func TestRedactionWithLargePolicyState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		remember := func(in policy.Input) policy.Decision {
			var all []string
			json.Unmarshal(in.State, &all)
			for _, e := range in.Events {
				all = append(all, strings.Repeat(e.Text, 40))
			}
			d := rotate(in)
			d.State, _ = json.Marshal(all)
			return d
		}
		slow := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			time.Sleep(time.Second)
			return count(ctx, p, f)
		}
		r, err := coordinator.Open(t.Context(), config(l, remember, slow), spec(room.Limits{MaxTurns: 8}), agents("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- r.Run(t.Context()) }()
		seen := make(chan int64)
		go func() {
			var last int64
			for u := range r.Watch(t.Context(), 0, room.Internal) {
				if u.Event != nil {
					last = u.Event.Seq
				}
			}
			seen <- last
		}()
		time.Sleep(4500 * time.Millisecond)
		if _, err := r.Do(t.Context(), room.Command{Actor: room.ActorHost, Do: room.Redact{Target: 6}}); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if got, want := <-seen, r.View().Seq; got != want {
			t.Errorf("watched up to %d of %d", got, want)
		}
		s, err := coordinator.Fold(t.Context(), config(l, remember, slow), "r1")
		if err != nil {
			t.Fatal(err)
		}
		if s.Seq != r.View().Seq || s.Phase != room.PhaseStopped || s.Ending.Name != "maxTurns" {
			t.Errorf("the fold ends at %d as %+v", s.Seq, s.Ending)
		}
	})
}
