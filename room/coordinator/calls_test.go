package coordinator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/memory"
)

// team are a lead that may call, and two agents that it calls.
func team() []room.Participant {
	ps := agents("lead", "coder", "tester")
	ps[0].Calls = room.CallsAllow
	return ps
}

// raiseCall makes a call as an agent does over its floor.
func raiseCall(ctx context.Context, f endpoint.Floor, args string) (calls.Answer, error) {
	a, err := f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalCall, Body: []byte(args)})
	if err != nil {
		return calls.Answer{}, err
	}
	if !a.Allowed {
		return calls.Answer{}, errors.New(a.Reason)
	}
	var got calls.Answer
	return got, json.Unmarshal(a.Body, &got)
}

func bodies[T room.Body](t *testing.T, l log.Reader, id string) (all []T) {
	t.Helper()
	entries, err := l.Read(t.Context(), id, log.Pos{}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if b, ok := e.Event.Body.(T); ok {
			all = append(all, b)
		}
	}
	return all
}

// only gives the floor to the first agent, and finishes after that.
func only(in policy.Input) policy.Decision {
	if in.Turn > 1 {
		return policy.Finish("done")
	}
	return policy.Speak(in.Agents[0].ID, "it begins")
}

// TestCall: an agent calls another one and waits. The called one sees its task and none
// of the room of its caller.
func TestCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		say := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			if p.You.ID == "coder" {
				if !strings.Contains(p.Text, "write a parser") || strings.Contains(p.Text, "count") {
					t.Errorf("the prompt of the called agent:\n%s", p.Text)
				}
				time.Sleep(90 * time.Second) // longer than a turn of the caller
				return endpoint.Reply{Outcome: endpoint.Said, Text: "parsed", Usage: endpoint.Usage{Known: true, Input: 70, Output: 30}, Tools: []endpoint.ToolCall{{Kind: "edit", ID: "1"}}}, nil
			}
			a, err := raiseCall(ctx, f, `{"agent_name":"coder","task":"write a parser"}`)
			if err != nil {
				return endpoint.Reply{}, err
			}
			return endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprintf("%s: %s, %v, %d tokens, %.0f s", a.Agent, a.Output, a.Success, a.Tokens, a.Duration)}, nil
		}
		r, err := coordinator.Open(t.Context(), config(l, only, say), spec(room.Limits{}), team())
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		said := bodies[room.MessagePosted](t, l, "r1")
		if len(said) != 1 || said[0].Message.Text != "coder: parsed, true, 100 tokens, 90 s" {
			t.Errorf("said %+v", said)
		}
		ended := bodies[room.CallEnded](t, l, "r1")
		if len(ended) != 1 || ended[0].State != calls.Completed || ended[0].Posted {
			t.Errorf("ended %+v", ended)
		}
		started := bodies[room.CallStarted](t, l, "r1")
		if v := bodies[room.Completed](t, l, started[0].Room); len(v) != 1 || v[0].Cause != room.CauseReturned {
			t.Errorf("the child room ended as %+v", v)
		}
		if v := r.View(); v.Tally.Tokens < 100 || v.Ending.Cause != room.CauseFinish {
			t.Errorf("%+v, %+v", v.Tally, v.Ending)
		}
	})
}

// TestCallLater: with wait_ms 0 the call goes on while its caller ends its turn, and the
// result comes as a message that wakes the caller.
func TestCallLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		inbox := func(in policy.Input) policy.Decision {
			switch {
			case in.Turn == 1, in.Agents[0].Unread > 0:
				return policy.Speak(in.Agents[0].ID, "it has mail")
			case in.Turn > 2:
				return policy.Finish("done")
			}
			return policy.Decline("nothing to do")
		}
		say := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			switch {
			case p.You.ID == "coder":
				time.Sleep(100 * time.Second)
				return endpoint.Reply{Outcome: endpoint.Said, Text: "parsed"}, nil
			case p.Turn == 1:
				a, err := raiseCall(ctx, f, `{"agent_name":"coder","task":"write a parser","wait_ms":0}`)
				if err != nil || !a.State.Open() || a.ID != "c1" {
					t.Errorf("%+v, %v", a, err)
				}
				return endpoint.Reply{Outcome: endpoint.Said, Text: "called"}, nil
			}
			if !strings.Contains(p.Text, "parsed") {
				t.Errorf("the result is not in the prompt:\n%s", p.Text)
			}
			return endpoint.Reply{Outcome: endpoint.Said, Text: "got it"}, nil
		}
		r, err := coordinator.Open(t.Context(), config(l, inbox, say), spec(room.Limits{}), team())
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if v := r.View(); v.Ending.Cause != room.CauseFinish {
			t.Errorf("ended as %+v", v.Ending)
		}
		ended := bodies[room.CallEnded](t, l, "r1")
		if len(ended) != 1 || !ended[0].Posted || ended[0].State != calls.Completed {
			t.Errorf("%+v", ended)
		}
		said := bodies[room.MessagePosted](t, l, "r1")
		if len(said) != 3 || said[1].Message.Kind != "call_result" || said[1].Message.Visibility != room.Internal || said[1].Message.To != "lead" {
			t.Errorf("%+v", said)
		}
	})
}

// calling runs a room whose lead makes calls with that function, and returns its log.
func calling(t *testing.T, ps []room.Participant, limits room.Limits, agent, lead speakFunc) (*coordinator.Room, *memory.Log) {
	t.Helper()
	l := &memory.Log{}
	say := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
		if p.You.ID == "lead" {
			return lead(ctx, p, f)
		}
		return agent(ctx, p, f)
	}
	r, err := coordinator.Open(t.Context(), config(l, only, say), spec(limits), ps)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r, l
}

func answering(text string) (endpoint.Reply, error) {
	return endpoint.Reply{Outcome: endpoint.Said, Text: text}, nil
}

// TestCallTimeout: a call ends after 300 s although the note's code never read that
// time, and a smaller one of the caller counts.
func TestCallTimeout(t *testing.T) {
	for args, want := range map[string]time.Duration{
		`{"agent_name":"coder","task":"x"}`:                    300 * time.Second,
		`{"agent_name":"coder","task":"x","timeout_ms":20000}`: 20 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			calling(t, team(), room.Limits{}, func(ctx context.Context, _ endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
				<-ctx.Done()
				return endpoint.Reply{}, ctx.Err()
			}, func(ctx context.Context, _ endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
				began := time.Now()
				a, err := raiseCall(ctx, f, args)
				if took := time.Since(began); err != nil || a.State != calls.Failed || a.Success || took < want || took > want+2*time.Second || len(a.Errors) == 0 {
					t.Errorf("%+v after %v, %v", a, took, err)
				}
				return answering("done")
			})
		})
	}
}

// TestCallCrash: an agent that ends without an answer fails its call and nothing else.
func TestCallCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := calling(t, team(), room.Limits{}, func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
			return endpoint.Reply{}, fmt.Errorf("exit status 1: %w", endpoint.ErrExited)
		}, func(ctx context.Context, _ endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			a, err := raiseCall(ctx, f, `{"agent_name":"coder","task":"x"}`)
			if err != nil || a.State != calls.Failed || !strings.Contains(strings.Join(a.Errors, " "), "exit status 1") {
				t.Errorf("%+v, %v", a, err)
			}
			if a, err = raiseCall(ctx, f, `{"agent_name":"tester","task":"x"}`); err != nil || a.State != calls.Failed {
				t.Errorf("the next call: %+v, %v", a, err)
			}
			return answering("done")
		})
		if v := r.View(); v.Ending.Cause != room.CauseFinish || v.Seats[0].Failures != 0 {
			t.Errorf("%+v", v)
		}
	})
}

// TestCallPass: an agent that passes has not taken the task.
func TestCallPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calling(t, team(), room.Limits{}, func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
			return endpoint.Reply{Outcome: endpoint.Refused, Reason: "not mine"}, nil
		}, func(ctx context.Context, _ endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			a, err := raiseCall(ctx, f, `{"agent_name":"coder","task":"x"}`)
			if err != nil || a.State != calls.Rejected || a.Success || !strings.Contains(strings.Join(a.Errors, " "), "not mine") {
				t.Errorf("%+v, %v", a, err)
			}
			return answering("done")
		})
	})
}

// TestNestedCalls: the chain is that of the call path. It is popped at every return, so
// that an agent can be called again after a nested call has returned, and it holds for
// parallel calls (the note's code cleared it after the first nested return).
func TestNestedCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ps := agents("lead", "a", "b", "c")
		for i := range ps {
			ps[i].Calls = room.CallsAllow
		}
		calling(t, ps, room.Limits{}, func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			time.Sleep(time.Second)
			if p.You.ID == "c" {
				return answering("leaf")
			}
			for _, up := range []string{"lead", p.You.ID} {
				if _, err := raiseCall(ctx, f, `{"agent_name":"`+up+`","task":"x"}`); err == nil {
					t.Errorf("%s has called %s", p.You.ID, up)
				}
			}
			for range 2 {
				if a, err := raiseCall(ctx, f, `{"agent_name":"c","task":"x"}`); err != nil || !a.Success {
					t.Errorf("%s calls c: %+v, %v", p.You.ID, a, err)
				}
			}
			if _, err := raiseCall(ctx, f, `{"agent_name":"lead","task":"x"}`); err == nil {
				t.Errorf("%s has called lead after its own calls", p.You.ID)
			}
			return answering("branch")
		}, func(ctx context.Context, _ endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			reply, err := f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalCall, Body: []byte(`{"calls":[{"agent_name":"a","task":"x","allow_nested_calls":true},{"agent_name":"b","task":"x","allow_nested_calls":true}]}`)})
			var got calls.Answers
			if err != nil || json.Unmarshal(reply.Body, &got) != nil || len(got.Calls) != 2 {
				t.Fatalf("%s, %v", reply.Body, err)
			}
			for _, a := range got.Calls {
				if !a.Success || a.Calls != 2 {
					t.Errorf("%+v", a)
				}
			}
			return answering("done")
		})
	})
}

// TestNestedOff: an agent that was called without allow_nested_calls calls nobody
// (the note's code never read that field).
func TestNestedOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ps := agents("lead", "a", "b")
		ps[0].Calls, ps[1].Calls = room.CallsAllow, room.CallsAllow
		calling(t, ps, room.Limits{}, func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			if _, err := raiseCall(ctx, f, `{"agent_name":"b","task":"x"}`); err == nil || !strings.Contains(err.Error(), "nested calls are off") {
				t.Errorf("%v", err)
			}
			return answering("done")
		}, func(ctx context.Context, _ endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			if a, err := raiseCall(ctx, f, `{"agent_name":"a","task":"x"}`); err != nil || !a.Success {
				t.Errorf("%+v, %v", a, err)
			}
			return answering("done")
		})
	})
}

// TestDepthSix: five calls below each other work, and the sixth is refused.
func TestDepthSix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ps := agents("lead", "a", "b", "c", "d", "e", "f")
		for i := range ps {
			ps[i].Calls = room.CallsAllow
		}
		deepest := ""
		next := map[string]string{"lead": "a", "a": "b", "b": "c", "c": "d", "d": "e", "e": "f"}
		call := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			a, err := raiseCall(ctx, f, `{"agent_name":"`+next[p.You.ID]+`","task":"x","allow_nested_calls":true}`)
			if err != nil {
				deepest = p.You.ID + ": " + err.Error()
			} else if !a.Success {
				t.Errorf("%s: %+v", p.You.ID, a)
			}
			return answering("done")
		}
		calling(t, ps, room.Limits{MaxCalls: 1_000_000}, call, call)
		if !strings.HasPrefix(deepest, "e: the calls would be 6 deep") {
			t.Errorf("refused is %q", deepest)
		}
	})
}

// TestStopCancels: the stop of a room ends all calls below it, and their agents.
func TestStopCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		ps := agents("lead", "a", "b")
		ps[0].Calls, ps[1].Calls = room.CallsAllow, room.CallsAllow
		stopped := make(chan string, 3)
		say := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			defer func() { stopped <- p.You.ID }()
			switch p.You.ID {
			case "lead":
				raiseCall(ctx, f, `{"agent_name":"a","task":"x","allow_nested_calls":true}`)
			case "a":
				raiseCall(ctx, f, `{"agent_name":"b","task":"x"}`)
			}
			<-ctx.Done()
			return endpoint.Reply{}, ctx.Err()
		}
		cfg := config(l, only, say)
		r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{}), ps)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- r.Run(t.Context()) }()
		time.Sleep(10 * time.Second)
		began := time.Now()
		if _, err := r.Do(t.Context(), room.Command{Actor: room.ActorHost, Do: room.Stop{}}); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 5*time.Second || len(stopped) != 3 {
			t.Errorf("%d agents ended within %v", len(stopped), took)
		}
		ended := bodies[room.CallEnded](t, l, "r1")
		if len(ended) != 1 || ended[0].State != calls.Canceled || ended[0].Result.Calls != 1 || !ended[0].Result.Estimated || ended[0].Result.Tokens == 0 {
			t.Errorf("%+v", ended)
		}
	})
}
