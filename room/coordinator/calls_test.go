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
