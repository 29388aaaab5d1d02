package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// TestTwoAnswers: two people answer one draft or permission request at the same time,
// 10,000 times. One of them counts, the other is told so, and there is one effect.
func TestTwoAnswers(t *testing.T) {
	const turns = 5_000
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		agent := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			_, err := f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalPermission, Permission: &endpoint.Permission{Kind: "execute", Command: "make", Always: true}})
			return endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprint("made ", p.Turn)}, err
		}
		waiting := make(chan room.Waiting, 6*turns)
		r := attended(t, l, agent, room.Limits{MaxTurns: turns + 1}, func(cfg *coordinator.Config, _ *room.Spec, ps []room.Participant) {
			ps[0].Mode = room.Manual
			cfg.Policy = func(context.Context, room.PolicyRef) (coordinator.Policy, error) {
				return policyFunc(func(policy.Input) policy.Decision { return policy.Speak("a", "alone") }), nil
			}
			cfg.Waiting = func(w room.Waiting) { waiting <- w }
		})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			runToLimit(t, r)
			close(waiting)
		}()
		won := map[string]int{}
		for w := range waiting {
			if w.Turn > turns {
				continue // it may end with the room
			}
			for _, q := range w.Requests {
				won[both(t, r, room.Permit{ID: q.ID, Allowed: true, Always: w.Turn%2 == 0}, room.Permit{ID: q.ID})]++
			}
			if w.Draft != nil {
				second := room.Act(room.Reject{Draft: w.Draft.Hash})
				if w.Turn%2 == 0 {
					second = room.Edit{Draft: w.Draft.Hash, Text: "edited " + w.Draft.Message.Text, Approve: true}
				}
				won[both(t, r, room.Approve{Draft: w.Draft.Hash}, second)]++
			}
			if t.Failed() || w.Draft != nil && w.Turn == turns {
				if _, err := r.Do(t.Context(), room.Command{Actor: "me", Do: room.Stop{}}); err != nil {
					t.Error(err)
				}
			}
		}
		<-ended
		if won["me"]+won[room.ActorHost] != 2*turns {
			t.Errorf("%v answers counted", won)
		}
		checkOneEffect(t, events(t, l), turns)
	})
}

// both has two people act at the same time, and returns whose act counted.
func both(t *testing.T, r *coordinator.Room, first, second room.Act) (winner string) {
	var group sync.WaitGroup
	acts := []room.Command{{Actor: "me", Via: "terminal", Do: first}, {Actor: room.ActorHost, Via: "page", Do: second}}
	errs := make([]error, len(acts))
	for i, c := range acts {
		group.Go(func() { _, errs[i] = r.Do(context.WithoutCancel(t.Context()), c) })
	}
	group.Wait()
	lost := 0
	if errs[0] == nil {
		lost = 1
	}
	by := acts[1-lost]
	if errs[1-lost] != nil || !errors.Is(errs[lost], room.ErrAnswered) || !strings.Contains(errs[lost].Error(), " by "+by.Actor+" ("+by.Via+")") {
		t.Errorf("%T: %v and %v", first, errs[0], errs[1])
	}
	return by.Actor
}

// checkOneEffect checks that each request has one answer, and each draft one end, in
// the name of the same person.
func checkOneEffect(t *testing.T, log []room.Event, turns int) {
	ends := map[string]string{}
	end := func(id string, e room.Event) {
		if ends[id] != "" || e.Actor == room.ActorRoom || e.Via == "" {
			t.Errorf("%s has the ends %q and %s by %s (%s)", id, ends[id], e.Body.Type(), e.Actor, e.Via)
		}
		ends[id] = e.Actor
	}
	for _, e := range log {
		switch b := e.Body.(type) {
		case room.PermissionAnswered:
			if b.Turn <= turns {
				end(b.ID, e)
			}
		case room.TurnApproved:
			end(b.Draft, e)
		case room.TurnRejected:
			end(b.Draft, e)
		}
	}
}

// TestWaiting: what waits is told once for each change: with the room's end no request
// waits any more, and the draft still does. A room that is opened again tells of it.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		l := &memory.Log{}
		ask := make(chan struct{})
		agent := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			<-ask
			_, err := f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalPermission, Permission: &endpoint.Permission{Kind: "read"}})
			return endpoint.Reply{Outcome: endpoint.Said, Text: "read"}, err
		}
		change := func(cfg *coordinator.Config, _ *room.Spec, ps []room.Participant) {
			ps[0].Mode = room.Manual
			cfg.Waiting = func(w room.Waiting) {
				text := fmt.Sprintf("%s %d:", w.Phase, w.Turn)
				for _, q := range w.Requests {
					text += " " + q.ID
				}
				if w.Draft != nil {
					text += " " + w.Draft.Message.Text
				}
				told = append(told, text)
			}
		}
		r := attended(t, l, agent, room.Limits{}, change)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Run(ctx) }()
		do := func(act room.Act) {
			t.Helper()
			if _, err := r.Do(t.Context(), room.Command{Actor: "me", Do: act}); err != nil {
				t.Error(err)
			}
		}
		close(ask)
		synctest.Wait()
		do(room.Say{Text: "a message that changes nothing of it"})
		do(room.Permit{ID: "1.1", Allowed: true})
		synctest.Wait()
		do(room.Pause{})
		stop()
		<-ended
		cfg := config(l, rotate, agent)
		ps := []room.Participant{{}}
		change(&cfg, nil, ps)
		if _, err := coordinator.Reopen(t.Context(), cfg, "r1"); err != nil {
			t.Fatal(err)
		}
		want := "live 1: 1.1|live 1:|live 1: read|paused 1: read|paused 1: read|paused 1: read"
		if got := strings.Join(told, "|"); got != want {
			t.Errorf("told %s\nwant %s", got, want)
		}
	})
}

// TestDraftTimeout: a draft without an answer is not sent, also if the room was
// unloaded while it waited.
func TestDraftTimeout(t *testing.T) {
	for _, unloaded := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := &memory.Log{}
			r := attended(t, l, count, room.Limits{MaxTurns: 1, DraftTimeout: time.Hour, MaxDuration: 3 * time.Hour}, func(_ *coordinator.Config, _ *room.Spec, ps []room.Participant) {
				ps[0].Mode = room.Manual
			})
			begun := time.Now()
			if unloaded {
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- r.Run(ctx) }()
				time.Sleep(10 * time.Minute)
				stop()
				<-ended
				infos, err := l.Rooms(t.Context())
				if err != nil || len(infos) != 1 || infos[0].Wake.Sub(begun).Round(time.Minute) != time.Hour {
					t.Errorf("the log wakes the room %v, %v", infos, err)
				}
				time.Sleep(50 * time.Minute)
				cfg := config(l, rotate, count)
				cfg.Headless = false
				if r, err = coordinator.Reopen(t.Context(), cfg, "r1"); err != nil {
					t.Fatal(err)
				}
			}
			runToLimit(t, r)
			last := types(events(t, l))
			if got := strings.Join(last[len(last)-2:], " "); got != "turn.rejected room.stopped" || time.Since(begun).Round(time.Minute) != time.Hour {
				t.Errorf("unloaded is %t: after %v it ended with %s", unloaded, time.Since(begun), got)
			}
		})
	}
}
