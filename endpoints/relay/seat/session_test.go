package seat

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
	"github.com/folkmoot/moot/endpoints/relay/share"
)

// newsOnly returns the nth prompt, with new messages only.
func newsOnly(n int) endpoint.Prompt { return prompt(fmt.Sprint("req_", n), "news") }

// wholeContext returns the nth prompt, with the whole context.
func wholeContext(n int) endpoint.Prompt {
	p := newsOnly(n)
	p.History = []endpoint.Line{{Seq: 1, From: "ann", Text: "an earlier message"}}
	return p
}

// A sessionTest asks an agent and counts what the room is told.
type sessionTest struct {
	*pair
	*floor
	t *testing.T
}

// answers checks that p is answered.
func (s sessionTest) answers(p endpoint.Prompt) {
	s.t.Helper()
	if _, err := s.seat.Speak(s.t.Context(), p, s.floor); err != nil {
		s.t.Errorf("%s: %v", p.Request, err)
	}
}

// refused checks that p is refused by an agent that has lost its session.
func (s sessionTest) refused(p endpoint.Prompt) {
	s.t.Helper()
	if _, err := s.seat.Speak(s.t.Context(), p, s.floor); !errors.Is(err, endpoint.ErrInterrupted) || !strings.Contains(fmt.Sprint(err), "RELAY-FORGOT") {
		s.t.Errorf("%s, in a session that has ended: %v", p.Request, err)
	}
}

// forgot checks how often the room was told that its agent has lost its
// session, and that it was told nothing else.
func (s sessionTest) forgot(times int) {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.signals {
		if g.Kind != endpoint.SignalForgot {
			s.t.Errorf("raised was %+v", g)
		}
	}
	if len(s.signals) != times {
		s.t.Errorf("the room was told %d times that its agent forgot, want %d", len(s.signals), times)
	}
}

// TestShareRestart restarts a share. The share says so at once, and its agent
// does not run for a prompt that holds only what is new.
func TestShareRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		s := sessionTest{newPair(t, counting(&runs)), newFloor(), t}
		s.answers(newsOnly(1))
		s.answers(newsOnly(2))
		s.forgot(0)
		s.stopShare()
		s.startShare(t)
		s.forgot(1) // before it is asked again
		s.refused(newsOnly(3))
		if runs.Load() != 2 {
			t.Errorf("the agent ran %d times", runs.Load())
		}
		s.answers(wholeContext(4))
		s.answers(newsOnly(5))
		s.forgot(1)
		s.stopShare()
		s.startShare(t)
		s.forgot(2)
		s.answers(wholeContext(6)) // as a room asks after the signal
		s.answers(newsOnly(7))
		if runs.Load() != 6 {
			t.Errorf("the agent ran %d times", runs.Load())
		}
	})
}

// TestAgentRestart lets an agent lose its session while its share runs on:
// between two turns, and during one.
func TestAgentRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var floor atomic.Pointer[endpoint.Floor]
		s := sessionTest{newPair(t, func(_ context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			floor.Store(&f)
			if p.Request == "req_4" {
				f.Raise(context.Background(), endpoint.Signal{Kind: endpoint.SignalForgot})
			}
			return endpoint.Reply{Outcome: endpoint.Said, Text: "yes"}, nil
		}), newFloor(), t}
		s.answers(newsOnly(1))
		if _, err := (*floor.Load()).Raise(t.Context(), endpoint.Signal{Kind: endpoint.SignalForgot}); err != nil {
			t.Error(err)
		}
		s.forgot(1)
		s.refused(newsOnly(2))
		s.answers(wholeContext(3))
		s.forgot(1)
		s.answers(newsOnly(4))
		s.forgot(2)
		s.refused(newsOnly(5))
		s.answers(wholeContext(6))
		s.answers(newsOnly(7))
		s.forgot(2)
	})
}

// closeCounter counts how often it is closed.
type closeCounter struct {
	agentFunc
	n *atomic.Int32
}

func (c closeCounter) Close() error { c.n.Add(1); return nil }

// TestSessionPerRoom checks that each room has an agent session of its own, and
// loses it when the share closes the agent for other rooms.
func TestSessionPerRoom(t *testing.T) {
	const maxAgents = 8 // of a share
	synctest.Test(t, func(t *testing.T) {
		var runs, closed atomic.Int32
		s := sessionTest{newPair(t, nil, func(p *pair) { p.open = func() share.Agent { return closeCounter{counting(&runs), &closed} } }), newFloor(), t}
		s.answers(newsOnly(1))
		first := s.seat.sessionID
		for i := range maxAgents {
			p := newsOnly(10 + i)
			p.Room = fmt.Sprint("r_other", i)
			p.History = wholeContext(0).History
			time.Sleep(time.Second)
			s.answers(p)
		}
		if closed.Load() != 1 {
			t.Errorf("%d agents were closed, want that of the first room", closed.Load())
		}
		s.seat.sessionID = first // each room has a seat of its own; here they share one
		before := runs.Load()
		s.refused(newsOnly(2))
		if runs.Load() != before {
			t.Error("the agent ran")
		}
	})
}
