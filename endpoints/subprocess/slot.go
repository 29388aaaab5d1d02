package subprocess

import (
	"context"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
)

// A Slot is a semaphore of one: the request in flight of an endpoint.
type Slot struct{ token chan struct{} }

// NewSlot returns a free slot.
func NewSlot() Slot { return Slot{make(chan struct{}, 1)} }

// Acquire takes the slot for a request, or fails with endpoint.ErrBusy. The caller
// calls release.
func (s Slot) Acquire() (release func(), err error) {
	select {
	case s.token <- struct{}{}:
		return s.release, nil
	default:
		return nil, &problem.Error{Code: "AGENT-BUSY", What: "the agent has a request in flight", Fix: "wait for its answer", Kind: endpoint.ErrBusy}
	}
}

// AcquireWait is Acquire that waits for the slot: a request that was cancelled a
// moment ago still holds it. Its error is that of ContextError.
func (s Slot) AcquireWait(ctx context.Context) (release func(), err error) {
	select {
	case s.token <- struct{}{}:
		return s.release, nil
	case <-ctx.Done():
		return nil, ContextError(ctx)
	}
}

func (s Slot) release() { <-s.token }

// Await waits until c is closed. A nil channel counts as closed. Its error is that
// of ContextError.
func Await(ctx context.Context, c <-chan struct{}) error {
	if c == nil {
		return nil
	}
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return ContextError(ctx)
	}
}
