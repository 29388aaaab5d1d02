package share

import (
	"context"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// heartbeatEvery is the time between two heartbeats of a request. The times
// depend only on the arrival of the request, so a relay that counts frames
// learns nothing about the work of the agent.
const heartbeatEvery = 2 * time.Second

// startHeartbeat sends heartbeats of r until stop is called and has returned.
// At most one heartbeat is on its way: after a cut of the network one arrives,
// not all that were due.
func (s *Share) startHeartbeat(ctx context.Context, r *request) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.heartbeat(ctx, r)
	}()
	return func() { cancel(); <-done }
}

func (s *Share) heartbeat(ctx context.Context, r *request) {
	b, err := envelope.Encode(envelope.Envelope{ID: r.env.ID, Type: envelope.Status, Body: wire.Body(wire.Status{State: wire.StateThinking})})
	if err != nil {
		return // cannot happen: the id was decoded
	}
	ticker := time.NewTicker(heartbeatEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		s.mu.Lock()
		known := !r.forgotten
		s.mu.Unlock()
		if known {
			_ = s.dispatcher.Deliver(ctx, r.from, b) // a lost heartbeat is not sent again
		}
	}
}
