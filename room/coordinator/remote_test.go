package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

func withRemote() []room.Participant {
	ps := agents("mine", "theirs")
	ps[1].Kind, ps[1].Owner, ps[1].Device = policy.Remote, "bob", "dev"
	return ps
}

// TestRemoteTurnOutlivesItsHost checks that a killed host sends the same request
// again to another device, with the same id and a higher epoch, and that the turn
// ends once.
func TestRemoteTurnOutlivesItsHost(t *testing.T) {
	for _, restart := range []string{room.RestartPause, room.RestartContinue} {
		t.Run(restart, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &memory.Log{}
				var asked []endpoint.Prompt
				hang := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
					if p.You.ID == "theirs" {
						asked = append(asked, p)
						<-ctx.Done()
						return endpoint.Reply{}, ctx.Err()
					}
					return count(ctx, p, f)
				}
				s := spec(room.Limits{MaxTurns: 2})
				s.OnRestart = restart
				r, err := coordinator.Open(t.Context(), config(l, rotate, hang), s, withRemote())
				if err != nil {
					t.Fatal(err)
				}
				ctx, crash := context.WithCancel(t.Context())
				done := make(chan error)
				go func() { done <- r.Run(ctx) }()
				time.Sleep(time.Second)
				crash()
				<-done
				cfg := config(l, rotate, func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
					asked = append(asked, p)
					return count(ctx, p, f)
				})
				cfg.ResumeAs = room.ActorHost
				if r, err = coordinator.Reopen(t.Context(), cfg, "r1"); err != nil {
					t.Fatal(err)
				}
				if err := r.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if len(asked) != 2 || asked[0].Request != asked[1].Request || asked[0].Epoch >= asked[1].Epoch {
					t.Fatalf("asked was %+v", asked)
				}
				if first, second := asked[0], asked[1]; first.Text != second.Text || first.Text == "" {
					t.Errorf("asked again with another prompt:\n%s\n%s", first.Text, second.Text)
				}
				granted, posted := 0, 0
				for _, e := range events(t, l) {
					switch b := e.Body.(type) {
					case room.TurnGranted:
						granted++
					case room.MessagePosted:
						posted++
					case room.TurnInterrupted, room.TurnFailed:
						t.Errorf("the turn ended with %+v", b)
					}
				}
				if granted != 2 || posted != 2 {
					t.Errorf("%d turns granted, %d messages", granted, posted)
				}
			})
		})
	}
}

// TestRemoteFailures checks that a failure by the keys or rules of the other
// device suspends the seat at once and does not end the room. A temporary failure
// does not suspend.
func TestRemoteFailures(t *testing.T) {
	for kind, want := range map[error]struct {
		code    string
		suspend bool
	}{
		endpoint.ErrUntrusted:   {room.FailUntrusted, true},
		endpoint.ErrDenied:      {room.FailDenied, true},
		endpoint.ErrLimited:     {room.FailLimited, false},
		endpoint.ErrUnreachable: {room.FailUnreachable, false},
		endpoint.ErrInterrupted: {room.FailInterrupted, false},
		endpoint.ErrExited:      {room.FailExited, true},
		errors.Join(endpoint.ErrExited, endpoint.ErrInterrupted): {room.FailInterrupted, false}, // it is started again
	} {
		t.Run(kind.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &memory.Log{}
				failing := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
					if p.You.ID == "theirs" {
						return endpoint.Reply{}, fmt.Errorf("%w: really", kind)
					}
					return count(ctx, p, f)
				}
				next := func(in policy.Input) policy.Decision {
					for _, a := range in.Agents {
						if a.ID == "theirs" && a.Eligible && in.Turn == 2 {
							return policy.Speak("theirs", "")
						}
					}
					return policy.Speak("mine", "")
				}
				r, err := coordinator.Open(t.Context(), config(l, next, failing), spec(room.Limits{MaxTurns: 3}), withRemote())
				if err != nil {
					t.Fatal(err)
				}
				if err := r.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				suspended, code := false, ""
				for _, e := range events(t, l) {
					switch b := e.Body.(type) {
					case room.TurnFailed:
						code = b.Code
					case room.SeatChanged:
						suspended = b.Standing == room.Suspended && b.Participant == "theirs"
					}
				}
				if code != want.code || suspended != want.suspend {
					t.Errorf("failed with %q, suspended %t", code, suspended)
				}
				if v := r.View(); v.Phase != room.PhaseStopped || v.Ending.Name != "maxTurns" {
					t.Errorf("the room ended as %+v", v.Ending)
				}
			})
		})
	}
}
