package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
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

// policyFunc is a policy in Go, without a sandbox.
type policyFunc func(policy.Input) policy.Decision

func (f policyFunc) Propose(ctx context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	d := f(in)
	if d.Action == policy.ActionError {
		return d, policy.Record{}, errors.New(d.Message)
	}
	return d, policy.Record{}, ctx.Err()
}

// rotate grants the floor in roster order.
func rotate(in policy.Input) policy.Decision {
	return policy.Speak(in.Agents[(in.Turn-1)%len(in.Agents)].ID, "next in turn")
}

// speakFunc is an agent in Go.
type speakFunc func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error)

func (f speakFunc) Speak(ctx context.Context, p endpoint.Prompt, fl endpoint.Floor) (endpoint.Reply, error) {
	return f(ctx, p, fl)
}
func (speakFunc) Close() error { return nil }

// count replies with the number of the turn.
func count(_ context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
	return endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprintf("%s at turn %d", p.You.ID, p.Turn)}, nil
}

func config(l coordinator.Log, p policyFunc, s speakFunc) coordinator.Config {
	return coordinator.Config{
		Log: l, Owner: "test", RunOptions: coordinator.RunOptions{Headless: true},
		Policy:   func(context.Context, room.PolicyRef) (coordinator.Policy, error) { return quick{p}, nil },
		Endpoint: func(context.Context, room.Spec, room.Participant) (coordinator.Endpoint, error) { return s, nil },
	}
}

func spec(l room.Limits) room.Spec {
	return room.Spec{Room: "r1", Objective: "count", Secret: "s", Limits: l, Policy: room.PolicyRef{Use: "rotate", Name: "rotate"}}
}

func agents(ids ...string) []room.Participant {
	var ps []room.Participant
	for _, id := range ids {
		ps = append(ps, room.Participant{ID: id, Kind: policy.Local, Mode: room.FullAuto})
	}
	return ps
}

func events(t *testing.T, l log.Reader) []room.Event {
	t.Helper()
	entries, err := l.Read(t.Context(), "r1", log.Pos{}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var evs []room.Event
	for _, e := range entries {
		evs = append(evs, e.Event)
	}
	return evs
}

func types(evs []room.Event) []string {
	var out []string
	for _, e := range evs {
		out = append(out, e.Body.Type())
	}
	return out
}

func TestRunsUntilTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		r, err := coordinator.Open(t.Context(), config(l, rotate, count), spec(room.Limits{MaxTurns: 3}), agents("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"room.opened", "participant.joined", "participant.joined", "room.claimed",
			"turn.granted", "message.posted", "turn.granted", "message.posted", "turn.granted", "message.posted", "room.stopped",
		}
		if got := types(events(t, l)); !reflect.DeepEqual(got, want) {
			t.Errorf("events\n got %v\nwant %v", got, want)
		}
		if v := r.View(); v.Phase != room.PhaseStopped || v.Ending.Name != "maxTurns" {
			t.Errorf("ended as %+v", v.Ending)
		}
	})
}

func TestDeclinesSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		start := time.Now()
		r, err := coordinator.Open(t.Context(), config(l, func(policy.Input) policy.Decision { return policy.Decline("nothing new") }, count), spec(room.Limits{}), agents("a"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if v := r.View(); v.Phase != room.PhaseCompleted || v.Ending.Cause != room.CauseSettled {
			t.Errorf("ended as %+v", v.Ending)
		}
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("three declined rounds took %v of room time, want two delays of 5s", took)
		}
	})
}

// TestNothingWaits checks that an unattended room in which nothing can change any
// more does not wait for its end.
func TestNothingWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(&memory.Log{}, func(policy.Input) policy.Decision { return policy.Decline("nothing new") }, count)
		cfg.Unattended = true
		r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{DeclineRetry: time.Hour}), agents("a"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if v := r.View(); v.Ending.Cause != room.CauseSettled || v.Clock > time.Second {
			t.Errorf("ended after %v of room time as %+v", v.Clock, v.Ending)
		}
	})
}

// TestDegraded checks that a room that settles with a suspended seat says so, and
// that a person can go on from it.
func TestDegraded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		twice := func(in policy.Input) policy.Decision {
			if in.Turn <= 2 {
				return rotate(in)
			}
			return policy.Decline("nothing new")
		}
		broken := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			if p.You.ID == "a" {
				return endpoint.Reply{}, endpoint.ErrExited
			}
			return count(ctx, p, f)
		}
		r, err := coordinator.Open(t.Context(), config(l, twice, broken), spec(room.Limits{}), agents("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if v := r.View(); v.Ending.Cause != room.CauseSettled || !v.Ending.Degraded || !strings.Contains(v.Ending.Reason, "a is suspended") {
			t.Fatalf("ended as %+v", v.Ending)
		}
		again := config(l, twice, count)
		again.ResumeAs = room.ActorHost
		again.ResumeWith = []room.Act{room.SetStanding{Participant: "a", Standing: room.Active}}
		if r, err = coordinator.Reopen(t.Context(), again, "r1"); err != nil {
			t.Fatal(err)
		}
		if v := r.View(); v.Phase != room.PhaseLive {
			t.Errorf("resumed as %v", v.Phase)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if v := r.View(); v.Ending.Cause != room.CauseSettled || v.Ending.Degraded {
			t.Errorf("ended again as %+v", v.Ending)
		}
	})
}

func TestPolicyErrorPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		r, err := coordinator.Open(t.Context(), config(l, func(policy.Input) policy.Decision { return policy.Fail("no idea") }, count), spec(room.Limits{}), agents("a"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if v := r.View(); v.Phase != room.PhasePaused || v.Ending.Cause != room.CausePolicy {
			t.Errorf("ended as %v %+v", v.Phase, v.Ending)
		}
	})
}

// TestPauseDuringStalledAppend checks that a pause is acknowledged while the log
// stalls, and that nothing is sent after it.
func TestPauseDuringStalledAppend(t *testing.T) {
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
		ack := make(chan time.Duration, 1)
		go func() {
			start := time.Now()
			for u := range r.Watch(t.Context(), 1<<40, room.Internal) {
				if u.Pausing {
					ack <- time.Since(start)
					return
				}
			}
		}()
		synctest.Wait()
		if _, err := r.Do(t.Context(), room.Command{Actor: room.ActorHost, Do: room.Pause{}}); err != nil {
			t.Fatal(err)
		}
		if took := <-ack; took > 100*time.Millisecond {
			t.Errorf("acknowledged after %v", took)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if sent != 0 {
			t.Errorf("%d prompts left after the pause was acknowledged", sent)
		}
		want := []string{"turn.granted", "turn.interrupted", "room.paused"}
		if got := types(events(t, l.Log))[4:]; !reflect.DeepEqual(got, want) {
			t.Errorf("events %v, want %v", got, want)
		}
	})
}

// stalling is a log whose appends wait.
type stalling struct {
	*memory.Log
	stall time.Duration
}

func (s *stalling) Append(ctx context.Context, id string, after log.Pos, wake time.Time, evs ...room.Event) (log.Pos, bool, error) {
	time.Sleep(s.stall)
	return s.Log.Append(ctx, id, after, wake, evs...)
}

// TestMessageDuringDecision checks that a message that a person posts while the
// policy computes is in the input of the recorded decision.
func TestMessageDuringDecision(t *testing.T) {
	for _, isQuick := range []bool{false, true} {
		testMessageDuringDecision(t, isQuick)
	}
}

func testMessageDuringDecision(t *testing.T, isQuick bool) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		asked := make(chan policy.Input)
		cfg := config(l, nil, count)
		cfg.Policy = func(context.Context, room.PolicyRef) (coordinator.Policy, error) {
			return quickIf(isQuick, slow{asked}), nil
		}
		r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{MaxTurns: 1}), append(agents("a"), room.Participant{ID: "me", Kind: policy.Human}))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- r.Run(t.Context()) }()
		<-asked
		if _, err := r.Do(t.Context(), room.Command{Actor: "me", Do: room.Say{Text: "wait"}}); err != nil {
			t.Fatal(err)
		}
		in := <-asked
		if last := in.Events[len(in.Events)-1]; last.Text != "wait" {
			t.Errorf("asked again with %+v as the last event", last)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}

// slow reports each prompt and answers after a second.
type slow struct{ asked chan policy.Input }

func (s slow) Propose(ctx context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	s.asked <- in
	select {
	case <-time.After(time.Second):
		return rotate(in), policy.Record{}, nil
	case <-ctx.Done():
		return policy.Decision{}, policy.Record{}, ctx.Err()
	}
}

func TestReopenAfterCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		hang := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			if p.Turn == 2 {
				<-ctx.Done()
				return endpoint.Reply{}, ctx.Err()
			}
			return count(ctx, p, f)
		}
		r, err := coordinator.Open(t.Context(), config(l, rotate, hang), spec(room.Limits{MaxTurns: 3}), agents("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, crash := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		time.Sleep(time.Second)
		crash()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		r, err = coordinator.Reopen(t.Context(), config(l, rotate, count), "r1")
		if err != nil {
			t.Fatal(err)
		}
		if v := r.View(); v.Phase != room.PhasePaused || v.Ending.Cause != room.CauseInterrupted {
			t.Fatalf("reopened as %v %+v", v.Phase, v.Ending)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		again := config(l, rotate, count)
		again.ResumeAs = room.ActorHost
		if r, err = coordinator.Reopen(t.Context(), again, "r1"); err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"turn.granted", "message.posted", "turn.granted", "room.claimed", "turn.interrupted", "room.paused",
			"room.claimed", "room.resumed", "turn.granted", "message.posted", "room.stopped",
		}
		if got := types(events(t, l))[4:]; !reflect.DeepEqual(got, want) {
			t.Errorf("events\n got %v\nwant %v", got, want)
		}
	})
}
