package coordinator_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// TestPanicsStayInTheirRoom checks that an endpoint that panics fails its turn,
// that a policy that panics pauses its room, and that the process goes on.
func TestPanicsStayInTheirRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		s := spec(room.Limits{MaxFailures: 2})
		s.Policy.Needs.Bids = true
		odd := func(in policy.Input) policy.Decision {
			if in.Turn == 2 {
				panic("no such seat")
			}
			return rotate(in)
		}
		r, err := coordinator.Open(t.Context(), config(l, odd, func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
			panic("nil map")
		}), s, agents("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		v := r.View()
		if v.Phase != room.PhasePaused || v.Ending.Cause != room.CausePolicy || !strings.Contains(v.Ending.Reason, "no such seat") || v.Tally.Errors != 1 {
			t.Errorf("the room is %s, %+v with %d failed turns", v.Phase, v.Ending, v.Tally.Errors)
		}
		has(t, l, "bid.posted", "turn.failed", "room.paused")
	})
}
