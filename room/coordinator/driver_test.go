package coordinator

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// A slowToReturn returns from a cancelled prompt only when it is let go.
type slowToReturn struct {
	asked chan string
	let   chan struct{}
}

func (s slowToReturn) Speak(_ context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
	s.asked <- p.Request
	<-s.let
	return endpoint.Reply{Outcome: endpoint.Said, Text: p.Request}, nil
}

func (slowToReturn) Close() error { return nil }

// TestNextPromptWaits: an endpoint gets its next prompt when it has returned from
// the one before, also if that was cancelled and the room goes on at once.
func TestNextPromptWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := slowToReturn{make(chan string, 2), make(chan struct{})}
		d := &driver{Endpoint: e, floor: &floor{}, slot: make(chan struct{}, 1)}
		paused, pause := context.WithCancel(t.Context())
		go func() { _, _ = d.speak(paused, endpoint.Prompt{Request: "first"}, time.Minute) }()
		synctest.Wait()
		pause()
		var second endpoint.Reply
		var err error
		go func() { second, err = d.speak(t.Context(), endpoint.Prompt{Request: "second"}, time.Minute) }()
		synctest.Wait()
		if len(e.asked) != 1 {
			t.Fatal("two prompts at once")
		}
		close(e.let)
		synctest.Wait()
		if err != nil || second.Text != "second" {
			t.Errorf("got %+v and %v", second, err)
		}
	})
}
