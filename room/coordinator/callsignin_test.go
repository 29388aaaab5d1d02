package coordinator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
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

// signedOut is an agent that answers nothing before its owner has signed in. With start
// it says so when it starts, as agents do that need a session for that.
type signedOut struct {
	speakFunc
	start func() error
}

func (s signedOut) Start(context.Context, endpoint.Floor) error { return s.start() }

var errSignedOut = fmt.Errorf("the agent is not signed in: run `coder login`: %w", endpoint.ErrSignIn)

// callSignedOut runs a room whose lead calls an agent that is not signed in, at depth
// below it. answer answers the request that waits in the inbox, and returns what was
// recorded of the call.
func callSignedOut(t *testing.T, headless bool, depth int, answer func(h *coordinator.Host, w room.Waiting)) (ended room.CallEnded, seen []calls.State) {
	t.Helper()
	var mu sync.Mutex
	signedIn := false
	l := &memory.Log{}
	say := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
		next := map[string]string{"lead": "coder", "tester": "coder"}
		if depth == 2 {
			next["lead"] = "tester"
		}
		if to := next[p.You.ID]; to != "" {
			a, err := raiseCall(ctx, f, `{"agent_name":"`+to+`","task":"x","allow_nested_calls":true}`)
			if err != nil {
				return endpoint.Reply{}, err
			}
			if !a.Success {
				return endpoint.Reply{}, fmt.Errorf("%v: %w", a.Errors, endpoint.ErrAgent)
			}
			return answering(a.Output)
		}
		mu.Lock()
		defer mu.Unlock()
		if !signedIn {
			return endpoint.Reply{}, errSignedOut
		}
		return answering("parsed")
	}
	cfg := config(l, only, say)
	cfg.Endpoint = func(context.Context, room.Spec, room.Participant) (coordinator.Endpoint, error) {
		return signedOut{say, func() error { return nil }}, nil
	}
	h := &coordinator.Host{Config: cfg}
	waits := make(chan room.Waiting, 8)
	h.Config.Waiting = func(w room.Waiting) {
		if len(w.Requests) > 0 {
			waits <- w
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	ps := team()
	ps[2].Calls = room.CallsAllow
	r, err := h.Create(t.Context(), spec(room.Limits{}), ps, coordinator.RunOptions{Foreground: true, Headless: headless})
	if err != nil {
		t.Fatal(err)
	}
	if !headless {
		w := <-waits
		time.Sleep(90 * time.Second) // longer than a turn of the caller
		mu.Lock()
		signedIn = true
		mu.Unlock()
		answer(h, w)
	}
	for range r.Watch(t.Context(), 0, room.Internal) {
		if r.View().Phase != room.PhaseLive {
			break
		}
	}
	stop()
	<-done
	for _, c := range bodies[room.CallChanged](t, l, "r1") {
		seen = append(seen, c.State)
	}
	return bodies[room.CallEnded](t, l, "r1")[0], seen
}

// TestCallSignIn: a called agent that needs a login makes its call auth_required, and the
// request for that waits for the owner. The answer lets it go on. At each depth the call
// says so.
func TestCallSignIn(t *testing.T) {
	for depth := 1; depth <= 2; depth++ {
		synctest.Test(t, func(t *testing.T) {
			ended, seen := callSignedOut(t, false, depth, func(h *coordinator.Host, w room.Waiting) {
				p := w.Requests[0].Permission
				if len(w.Requests) != 1 || p.Kind != room.ActionSignIn || w.Participant != "coder" || !strings.Contains(p.Title, "sign in to coder") || !strings.Contains(p.Detail, "coder login") {
					t.Errorf("%+v", w)
				}
				r, _ := h.Running("r1")
				if c := r.Calls()[0]; c.State != calls.AuthRequired || c.Asked != calls.Owner || !strings.Contains(c.Text, "sign in to coder") {
					t.Errorf("%+v", c)
				}
				do := room.Permit{ID: w.Requests[0].ID, Allowed: true}
				if _, err := h.Do(t.Context(), w.Room, room.Command{Actor: room.ActorHost, Do: do}); err != nil {
					t.Error(err)
				}
			})
			if ended.State != calls.Completed || ended.Result.Output != "parsed" {
				t.Errorf("depth %d: %+v, seen %v", depth, ended, seen)
			}
		})
	}
}

// TestCallSignInRefused: without a sign-in the call fails, and says why.
func TestCallSignInRefused(t *testing.T) {
	for _, headless := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ended, seen := callSignedOut(t, headless, 1, func(h *coordinator.Host, w room.Waiting) {
				do := room.Permit{ID: w.Requests[0].ID, Reason: "not today"}
				if _, err := h.Do(t.Context(), w.Room, room.Command{Actor: room.ActorHost, Do: do}); err != nil {
					t.Error(err)
				}
			})
			if ended.State != calls.Failed || !strings.Contains(strings.Join(ended.Result.Errors, " "), "not signed in") {
				t.Errorf("headless %v: %+v, seen %v", headless, ended, seen)
			}
		})
	}
}

// TestSignInAtStart: an agent that needs a login to start is ready in a child room, whose
// turn asks for it. In a room that no call has made it is not.
func TestSignInAtStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		signedIn := false
		say := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			if p.You.ID == "lead" {
				a, err := raiseCall(ctx, f, `{"agent_name":"coder","task":"x"}`)
				if err != nil || !a.Success {
					t.Errorf("%+v, %v", a, err)
				}
				return answering("done")
			}
			if !signedIn {
				return endpoint.Reply{}, errSignedOut
			}
			return answering("parsed")
		}
		cfg := config(l, only, say)
		cfg.Endpoint = func(_ context.Context, _ room.Spec, p room.Participant) (coordinator.Endpoint, error) {
			return signedOut{say, func() error {
				if p.ID == "coder" && !signedIn {
					return errSignedOut
				}
				return nil
			}}, nil
		}
		h := &coordinator.Host{Config: cfg}
		waits := make(chan room.Waiting, 8)
		h.Config.Waiting = func(w room.Waiting) {
			if len(w.Requests) > 0 {
				waits <- w
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- h.Run(ctx) }()
		ps := team()[:1]
		s := spec(room.Limits{})
		s.Agents = team()[1:2]
		ps[0].Calls = room.CallsAllow
		s.Agents[0].Starts = true
		r, err := h.Create(t.Context(), s, ps, coordinator.RunOptions{Foreground: true})
		if err != nil {
			t.Fatal(err)
		}
		w := <-waits
		signedIn = true
		if _, err := h.Do(t.Context(), w.Room, room.Command{Actor: room.ActorHost, Do: room.Permit{ID: w.Requests[0].ID, Allowed: true}}); err != nil {
			t.Fatal(err)
		}
		for range r.Watch(t.Context(), 0, room.Internal) {
			if r.View().Phase != room.PhaseLive {
				break
			}
		}
		stop()
		<-done
	})
}

// TestCallsAskTogether: the question of one agent ends the wait of its caller for all the
// calls of a request, because nobody else could answer it. The results of the others come
// as messages.
func TestCallsAskTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		h := &coordinator.Host{}
		var r *coordinator.Room
		created := make(chan struct{}) // r is set
		turns := 0
		say := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			switch p.You.ID {
			case "tester":
				time.Sleep(time.Minute)
				return answering("tested")
			case "coder":
				if turns++; turns == 1 {
					question := room.Message{To: "lead", Kind: "clarification_request", Text: "Which parser?"}
					if _, err := h.Do(ctx, p.Room, room.Command{Actor: "coder", Do: room.Posted{Message: question}}); err != nil {
						t.Error(err)
					}
				}
				return answering("parsed")
			}
			if p.Turn > 1 {
				return answering("done")
			}
			began := time.Now()
			a, err := f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalCall, Body: []byte(`{"calls":[{"agent_name":"coder","task":"x"},{"agent_name":"tester","task":"x"}]}`)})
			var got calls.Answers
			if err != nil || json.Unmarshal(a.Body, &got) != nil || len(got.Calls) != 2 || got.Calls[0].State != calls.InputRequired || got.Calls[0].Asked != "lead" || !got.Calls[1].State.Open() {
				t.Fatalf("%s, %v", a.Body, err)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it waited for %v", took)
			}
			<-created
			if err := r.ReplyCall(ctx, "lead", got.Calls[0].ID, "the JSON one"); err != nil {
				t.Error(err)
			}
			return answering("answered")
		}
		h.Config = config(l, mailed, say)
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
		ended := bodies[room.CallEnded](t, l, "r1")
		if len(ended) != 2 || !ended[0].Posted || !ended[1].Posted || !ended[0].Result.Success || !ended[1].Result.Success {
			t.Errorf("%+v", ended)
		}
	})
}

// mailed gives the floor to the first agent when it has messages, and finishes when there
// are no calls any more.
func mailed(in policy.Input) policy.Decision {
	switch {
	case in.Turn == 1, in.Agents[0].Unread > 0:
		return policy.Speak(in.Agents[0].ID, "it has mail")
	case in.Turn > 3:
		return policy.Finish("done")
	}
	return policy.Decline("nothing to do")
}
