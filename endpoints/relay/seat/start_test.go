package seat

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/share"
)

// A startingAgent is an agent with a start phase.
type startingAgent struct {
	agentFunc
	start func(context.Context, endpoint.Floor) error
}

func (a startingAgent) Start(ctx context.Context, f endpoint.Floor) error { return a.start(ctx, f) }

// startingPair is a pair whose shared agent starts by start.
func startingPair(t *testing.T, start func(context.Context, endpoint.Floor) error, speak agentFunc) *pair {
	return newPair(t, nil, func(p *pair) { p.open = func() share.Agent { return startingAgent{speak, start} } })
}

// TestAgentStartsAhead checks that a share starts an agent before any request, and
// one more when a room has got it, and that it says when the first is ready.
func TestAgentStartsAhead(t *testing.T) {
	started, gate := make(chan bool, 10), make(chan bool)
	p := startingPair(t, func(_ context.Context, f endpoint.Floor) error {
		started <- f == nil
		<-gate
		return nil
	}, func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
		return endpoint.Reply{Outcome: endpoint.Said, Text: "yes"}, nil
	})
	if ahead := <-started; !ahead {
		t.Error("the first start has a room")
	}
	select {
	case <-p.share.Prepared():
		t.Error("the share says that the agent is ready, and it starts")
	default:
	}
	close(gate)
	<-p.share.Prepared()
	if _, err := p.seat.Speak(t.Context(), prompt("req_1", "hello"), newFloor()); err != nil {
		t.Fatal(err)
	}
	for ahead := 0; ahead == 0; { // besides the check that the room's agent is ready
		if <-started {
			ahead++
		}
	}
}

// TestStartIsOffTheClock checks that the start-up of a shared agent, the first one
// and that after its end, takes nothing from the time of its turn.
func TestStartIsOffTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var left []time.Duration
		p := startingPair(t, func(ctx context.Context, _ endpoint.Floor) error {
			select {
			case <-time.After(40 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}, func(ctx context.Context, q endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
			end, _ := ctx.Deadline()
			left = append(left, time.Until(end), q.Timeout)
			return endpoint.Reply{Outcome: endpoint.Said, Text: "yes"}, nil
		})
		for _, id := range []string{"req_1", "req_2"} {
			q := prompt(id, "hello")
			q.Timeout = 100 * time.Second
			if r, err := p.seat.Speak(t.Context(), q, newFloor()); err != nil || r.Text != "yes" {
				t.Errorf("%s: %+v, %v", id, r, err)
			}
		}
		for _, d := range left {
			if d != 100*time.Second {
				t.Errorf("the agent has %v of its turn's 100 s", d)
			}
		}
		if len(left) != 4 {
			t.Errorf("the agent was asked %d times", len(left)/2)
		}
		p.stopHost()
		p.stopShare()
	})
}

// TestBidDuringStart checks that a bid does not wait for the start of its agent
// longer than a bid may take, and that the start goes on for the turn.
func TestBidDuringStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var starts atomic.Int32
		begun := time.Now()
		p := startingPair(t, func(context.Context, endpoint.Floor) error {
			if starts.Add(1) == 1 {
				time.Sleep(30 * time.Second)
			}
			return nil
		}, func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
			return endpoint.Reply{Outcome: endpoint.Said, Text: "yes"}, nil
		})
		bid := prompt("req_1", "hello")
		bid.Kind, bid.Timeout = endpoint.Bid, 5*time.Second
		if _, err := p.seat.Speak(t.Context(), bid, newFloor()); !errors.Is(err, endpoint.ErrTimeout) {
			t.Errorf("the bid: %v", err)
		}
		q := prompt("req_2", "hello")
		q.Timeout = time.Minute
		if r, err := p.seat.Speak(t.Context(), q, newFloor()); err != nil || r.Text != "yes" || time.Since(begun) != 30*time.Second {
			t.Errorf("the turn after %v: %+v, %v", time.Since(begun), r, err)
		}
		p.stopHost()
		p.stopShare()
	})
}

// TestFailedStart checks that a turn whose agent does not get ready fails with the
// reason, without asking the agent, and that the next turn starts it again.
func TestFailedStart(t *testing.T) {
	fail, asked := make(chan error, 1), 0
	p := startingPair(t, func(ctx context.Context, f endpoint.Floor) error {
		if f == nil {
			return errors.New("the first")
		}
		return <-fail
	}, func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
		asked++
		return endpoint.Reply{Outcome: endpoint.Said, Text: "yes"}, nil
	})
	<-p.share.Prepared()
	fail <- errors.New("no model is loaded")
	if _, err := p.seat.Speak(t.Context(), prompt("req_1", "hello"), newFloor()); err == nil || !strings.Contains(err.Error(), "no model") || asked != 0 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	fail <- nil
	if _, err := p.seat.Speak(t.Context(), prompt("req_2", "hello"), newFloor()); err != nil || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}
