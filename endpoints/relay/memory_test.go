package relay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// news is a prompt that holds only what is new, whole one that holds
// everything.
func news(n int) endpoint.Prompt { return prompt(fmt.Sprint("req_", n), "news") }

func whole(n int) endpoint.Prompt {
	p := news(n)
	p.History = []endpoint.Line{{Seq: 1, From: "ann", Text: "what was before"}}
	return p
}

// remembering is a room's way to its agent, and what it was told.
type remembering struct {
	*pair
	*floor
	t *testing.T
}

func (r remembering) answers(p endpoint.Prompt) {
	r.t.Helper()
	if _, err := r.seat.Speak(r.t.Context(), p, r.floor); err != nil {
		r.t.Errorf("%s: %v", p.Request, err)
	}
}

func (r remembering) refused(p endpoint.Prompt) {
	r.t.Helper()
	if _, err := r.seat.Speak(r.t.Context(), p, r.floor); !errors.Is(err, endpoint.ErrInterrupted) || !strings.Contains(fmt.Sprint(err), "RELAY-FORGOT") {
		r.t.Errorf("%s, which an agent is asked that has forgotten: %v", p.Request, err)
	}
}

// told checks that the room has heard so often that its agent has forgotten,
// and of nothing else.
func (r remembering) told(times int) {
	r.t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.signals {
		if s.Kind != endpoint.SignalForgot {
			r.t.Errorf("raised was %+v", s)
		}
	}
	if len(r.signals) != times {
		r.t.Errorf("the room has heard %d times that its agent forgot, want %d", len(r.signals), times)
	}
}

// TestMemoryOfAShare: a share that was started again says so at once, and does
// not have an agent work that knows only what is new.
func TestMemoryOfAShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		r := remembering{newPair(t, counted(&runs)), newFloor(), t}
		r.answers(news(1))
		r.answers(news(2))
		r.told(0)
		r.stopShare()
		r.startShare(t)
		r.told(1) // before it is asked anything
		r.refused(news(3))
		if runs.Load() != 2 {
			t.Errorf("the agent ran %d times", runs.Load())
		}
		r.answers(whole(4))
		r.answers(news(5))
		r.told(1)
		r.stopShare()
		r.startShare(t)
		r.told(2)
		r.answers(whole(6)) // as a room asks that has heard of it
		r.answers(news(7))
		if runs.Load() != 6 {
			t.Errorf("the agent ran %d times", runs.Load())
		}
	})
}

// TestMemoryOfAnAgent: so does an agent that is started anew while its share
// goes on.
func TestMemoryOfAnAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var floor atomic.Pointer[endpoint.Floor]
		r := remembering{newPair(t, func(_ context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			floor.Store(&f)
			if p.Request == "req_4" {
				f.Raise(context.Background(), endpoint.Signal{Kind: endpoint.SignalForgot})
			}
			return endpoint.Reply{Outcome: endpoint.Said, Text: "yes"}, nil
		}), newFloor(), t}
		r.answers(news(1))
		if _, err := (*floor.Load()).Raise(t.Context(), endpoint.Signal{Kind: endpoint.SignalForgot}); err != nil {
			t.Error(err)
		}
		r.told(1)
		r.refused(news(2))
		r.answers(whole(3))
		r.told(1)
		r.answers(news(4)) // while it works
		r.told(2)
		r.refused(news(5))
		r.answers(whole(6))
		r.answers(news(7))
		r.told(2)
	})
}

// TestMemoryOfARoom: agents are a room's and a profile's own, and so is what
// they have forgotten.
func TestMemoryOfARoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		r := remembering{newPair(t, counted(&runs)), newFloor(), t}
		r.answers(news(1))
		desk := r.share.desks["theirs"]
		for i := range maxAgents {
			p := news(10 + i)
			p.Room = fmt.Sprint("r_other", i)
			p.History = whole(0).History
			time.Sleep(time.Second)
			r.answers(p)
		}
		if desk.memory(r.host.Short()+"/r_1") != "" {
			t.Error("the agent of the first room is still there")
		}
		r.seat.memory = "that of the first room" // each room has a seat of its own; here they share one
		before := runs.Load()
		r.refused(news(2))
		if runs.Load() != before {
			t.Error("the agent ran")
		}
	})
}
