package coordinator_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// TestCallRestart: after the end of the process a call goes on in the same child room,
// and its result is taken once. With onRestart: pause it waits until a person resumes.
func TestCallRestart(t *testing.T) {
	for _, restart := range []string{room.RestartContinue, room.RestartPause} {
		synctest.Test(t, func(t *testing.T) {
			l := &memory.Log{}
			asked := 0
			say := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
				if p.You.ID == "coder" {
					if asked++; asked == 1 {
						<-ctx.Done()
						return endpoint.Reply{}, ctx.Err()
					}
					return answering("parsed")
				}
				if p.Turn == 1 {
					_, err := raiseCall(ctx, f, `{"agent_name":"coder","task":"x"}`)
					return endpoint.Reply{}, err
				}
				return answering("done")
			}
			later := func(in policy.Input) policy.Decision {
				switch {
				case in.Turn == 1, in.Agents[0].Unread > 0:
					return policy.Speak(in.Agents[0].ID, "it has mail")
				case in.Turn > 2:
					return policy.Finish("done")
				}
				return policy.Decline("nothing to do")
			}
			cfg := config(l, later, say)
			cfg.Headless = false
			s := spec(room.Limits{})
			s.OnRestart = restart
			r, err := coordinator.Open(t.Context(), cfg, s, team())
			if err != nil {
				t.Fatal(err)
			}
			ctx, kill := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- r.Run(ctx) }()
			time.Sleep(10 * time.Second)
			kill()
			<-done
			if r, err = coordinator.Reopen(t.Context(), cfg, "r1"); err != nil {
				t.Fatal(err)
			}
			go func() { done <- r.Run(t.Context()) }()
			if restart == room.RestartPause {
				time.Sleep(10 * time.Second)
				if v := r.View(); v.Phase != room.PhasePaused || asked != 1 {
					t.Errorf("%s, asked %d times", v.Phase, asked)
				}
				if _, err := r.Do(t.Context(), room.Command{Actor: room.ActorHost, Do: room.Resume{}}); err != nil {
					t.Fatal(err)
				}
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			started, ended := bodies[room.CallStarted](t, l, "r1"), bodies[room.CallEnded](t, l, "r1")
			if len(started) != 1 || len(ended) != 1 || ended[0].State != calls.Completed || ended[0].Result.Output != "parsed" || !ended[0].Posted || asked != 2 {
				t.Errorf("%s: started %+v, ended %+v, asked %d times", restart, started, ended, asked)
			}
			if tasks := bodies[room.MessagePosted](t, l, started[0].Room); len(tasks) != 2 {
				t.Errorf("the child room has %d messages", len(tasks))
			}
		})
	}
}

// TestPauseHoldsCalls: a pause of a room pauses the rooms below it, and its resume
// resumes them.
func TestPauseHoldsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		var asked atomic.Int32
		say := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			if p.You.ID == "coder" {
				if asked.Add(1) == 1 {
					<-ctx.Done()
					return endpoint.Reply{}, ctx.Err()
				}
				return answering("parsed")
			}
			if asked.Load() == 0 {
				_, err := raiseCall(ctx, f, `{"agent_name":"coder","task":"x"}`)
				return endpoint.Reply{}, err
			}
			time.Sleep(time.Second) // the call returns meanwhile
			return answering("done")
		}
		cfg := config(l, func(in policy.Input) policy.Decision {
			if in.Agents[0].Unread == 0 && in.Turn > 2 {
				return policy.Finish("done")
			}
			return policy.Speak("lead", "it goes on")
		}, say)
		cfg.Headless = false
		r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{}), team())
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- r.Run(t.Context()) }()
		time.Sleep(10 * time.Second)
		if _, err := r.Do(t.Context(), room.Command{Actor: room.ActorHost, Do: room.Pause{}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		child := bodies[room.CallStarted](t, l, "r1")[0].Room
		if p := bodies[room.Paused](t, l, child); len(p) != 1 {
			t.Errorf("the child room was paused %d times", len(p))
		}
		time.Sleep(time.Hour)
		if asked.Load() != 1 {
			t.Errorf("asked %d times while paused", asked.Load())
		}
		if _, err := r.Do(t.Context(), room.Command{Actor: room.ActorHost, Do: room.Resume{}}); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if ended := bodies[room.CallEnded](t, l, "r1"); len(ended) != 1 || ended[0].State != calls.Completed || asked.Load() != 2 {
			t.Errorf("%+v, asked %d times", ended, asked.Load())
		}
	})
}

// TestCallAsks: an agent that asks its caller waits for the answer, and the caller is
// told who is asked.
func TestCallAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *coordinator.Room
		created := make(chan struct{}) // r is set
		h := &coordinator.Host{}
		turns := 0
		say := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			if p.You.ID == "coder" {
				if turns++; turns == 1 {
					question := room.Message{To: "lead", Kind: "clarification_request", Text: "Which parser?"}
					if _, err := h.Do(ctx, p.Room, room.Command{Actor: "coder", Do: room.Posted{Message: question}}); err != nil {
						t.Error(err)
					}
					return answering("I have asked.")
				}
				if !strings.Contains(p.Text, "the JSON one") {
					t.Errorf("no answer in\n%s", p.Text)
				}
				return answering("parsed")
			}
			a, err := raiseCall(ctx, f, `{"agent_name":"coder","task":"x","wait_ms":5000}`)
			if err != nil || a.State != calls.InputRequired || a.Asked != "lead" || a.Text != "Which parser?" {
				t.Errorf("%+v, %v", a, err)
			}
			<-created
			if err := r.ReplyCall(ctx, "lead", a.ID, "the JSON one"); err != nil {
				t.Error(err)
			}
			if a, err = r.AwaitCall(ctx, "lead", a.ID, time.Minute); err != nil || a.State != calls.Completed || a.Output != "parsed" {
				t.Errorf("%+v, %v", a, err)
			}
			return answering("done")
		}
		h.Config = config(&memory.Log{}, only, say)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- h.Run(ctx) }()
		var err error
		if r, err = h.Create(t.Context(), spec(room.Limits{}), team(), coordinator.RunOptions{Foreground: true, Headless: true}); err != nil {
			t.Fatal(err)
		}
		close(created)
		for range r.Watch(t.Context(), 0, room.Internal) {
		}
		stop()
		<-done
		if turns != 2 {
			t.Errorf("%d turns", turns)
		}
	})
}
