package seat

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// TestCloseOfMovedRoom checks that the agent works on when its room goes on in another process,
// also if the endpoint is closed before the contexts below that of the room have ended.
func TestCloseOfMovedRoom(t *testing.T) {
	asked, let := make(chan context.Context, 1), make(chan struct{})
	p := newPair(t, func(ctx context.Context, _ endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
		asked <- ctx
		select {
		case <-let:
			return endpoint.Reply{Outcome: endpoint.Said, Text: "yes"}, nil
		case <-ctx.Done():
			return endpoint.Reply{}, ctx.Err()
		}
	})
	for n := range 50 {
		room, move := context.WithCancelCause(t.Context())
		ctx, cancel := endpoint.WithClock(room, time.Minute)
		seat := p.newSeat(t, "theirs")
		q := prompt(fmt.Sprint("req_", n), "hello")
		q.Room = fmt.Sprint("r_", n)
		spoke := make(chan struct{})
		go func() {
			defer close(spoke)
			_, _ = seat.Speak(ctx, q, newFloor()) // it ends with the room
		}()
		agent := <-asked
		move(endpoint.ErrMoved)
		seat.Close()
		<-spoke
		cancel()
		q.Epoch++
		next, answered := p.newSeat(t, "theirs"), make(chan error, 1)
		go func() { // after the message that cancels, if there is one
			_, err := next.Speak(t.Context(), q, newFloor())
			answered <- err
		}()
		select {
		case let <- struct{}{}:
		case <-agent.Done():
		}
		if err := <-answered; err != nil {
			t.Fatalf("move %d: the next process gets %v", n, err)
		}
		next.Close()
	}
}
