package seat

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/share"
)

// A forgettingAgent is an agent whose process ends just before Close: like that of
// ndjson, Close waits until the room has been told.
type forgettingAgent struct {
	mu     sync.Mutex
	floor  endpoint.Floor
	err    error // of Speak
	closed chan<- bool
}

func (a *forgettingAgent) Speak(_ context.Context, _ endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.floor = f
	return endpoint.Reply{Outcome: endpoint.Said, Text: "yes"}, a.err
}

func (a *forgettingAgent) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.floor == nil { // it has no room
		return nil
	}
	told := make(chan bool)
	go func() {
		defer close(told)
		_, _ = a.floor.Raise(context.Background(), endpoint.Signal{Kind: endpoint.SignalForgot})
	}()
	<-told
	a.closed <- true
	return nil
}

// TestCloseOfEndedAgent checks that a share can close an agent that tells its room
// meanwhile that its process has ended, in each place where it closes agents.
func TestCloseOfEndedAgent(t *testing.T) {
	// open returns a pair whose shared agents write to closed.
	open := func(t *testing.T, err error, options ...pairOption) (p *pair, closed <-chan bool) {
		c := make(chan bool, 20)
		options = append(options, func(p *pair) { p.open = func() share.Agent { return &forgettingAgent{err: err, closed: c} } })
		return newPair(t, nil, options...), c
	}
	ask := func(t *testing.T, p *pair, room int) error {
		t.Helper()
		q := prompt(fmt.Sprint("req_", room), "hello")
		q.Room = fmt.Sprint("r_", room)
		_, err := p.newSeat(t, "theirs").Speak(t.Context(), q, newFloor())
		return err
	}
	t.Run("the share ends", func(t *testing.T) {
		p, closed := open(t, nil)
		for room := range 3 {
			if err := ask(t, p, room); err != nil {
				t.Fatal(err)
			}
		}
		p.stopShare()
		if len(closed) != 3 {
			t.Errorf("%d of 3 agents were closed", len(closed))
		}
	})
	t.Run("too many rooms", func(t *testing.T) {
		p, closed := open(t, nil)
		for room := range 9 {
			if err := ask(t, p, room); err != nil {
				t.Fatal(err)
			}
		}
		<-closed
	})
	t.Run("the agent is closed", func(t *testing.T) {
		p, closed := open(t, endpoint.ErrClosed)
		if err := ask(t, p, 1); err == nil {
			t.Error("the agent has answered")
		}
		<-closed
	})
	t.Run("the device is removed", func(t *testing.T) {
		var removed atomic.Bool
		p, closed := open(t, nil, func(p *pair) {
			p.shareConfig.Trusted = func(identity.DeviceID) error {
				if removed.Load() {
					return errors.New("not paired")
				}
				return nil
			}
		})
		if err := ask(t, p, 1); err != nil {
			t.Fatal(err)
		}
		removed.Store(true)
		<-closed
	})
}
