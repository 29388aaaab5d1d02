package ndjson

import (
	"context"
	"fmt"
	"sync"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

const (
	maxNotes  = 64  // violations and late replies that wait for the room
	maxAsides = 8   // messages and calls under way
	maxDetail = 300 // runes of a violation's detail
)

// notes carry signals to the room, so that reading never waits for it. What
// does not fit is counted, and the count goes with the next.
type notes struct {
	ctx    context.Context // of everything; ends when the endpoint is closed
	cancel context.CancelFunc
	calls  context.Context // of calls; ends with the process that waits for them
	hangUp context.CancelFunc
	floor  func() endpoint.Floor

	queue  chan endpoint.Signal
	asides chan struct{}
	wg     sync.WaitGroup

	mu      sync.Mutex
	dropped int
	closed  bool
}

func newNotes(floor func() endpoint.Floor) *notes {
	n := &notes{floor: floor, queue: make(chan endpoint.Signal, maxNotes), asides: make(chan struct{}, maxAsides)}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.calls, n.hangUp = context.WithCancel(n.ctx)
	n.wg.Go(n.run)
	return n
}

func (n *notes) run() {
	for s := range n.queue {
		_, _ = n.raise(s) // the room's own failure is the room's to report
	}
}

// raise passes s on. Before the first prompt there is no room to tell.
func (n *notes) raise(s endpoint.Signal) (endpoint.Answer, error) {
	f := n.floor()
	if f == nil || n.ctx.Err() != nil {
		return endpoint.Answer{Reason: "nobody listens"}, nil
	}
	if s.Kind == endpoint.SignalCall {
		return f.Raise(n.calls, s)
	}
	return f.Raise(n.ctx, s)
}

func (n *notes) violation(code, detail string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.put(violation(code, detail))
}

func violation(code, detail string) endpoint.Signal {
	return endpoint.Signal{Kind: endpoint.SignalViolation, Code: code, Detail: endpoint.CleanLine(detail, maxDetail)}
}

func (n *notes) late(request, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.put(endpoint.Signal{Kind: endpoint.SignalLate, Code: request, Detail: text})
}

// put queues s; the caller holds the lock.
func (n *notes) put(s endpoint.Signal) {
	if n.closed {
		return
	}
	counts := s.Kind == endpoint.SignalViolation && n.dropped > 0
	if counts {
		s.Detail += fmt.Sprintf(" (%d more not listed)", n.dropped)
	}
	select {
	case n.queue <- s:
		if counts {
			n.dropped = 0
		}
	default:
		n.dropped++
	}
}

// ask raises s and hands the answer on. Too many at once are refused.
func (n *notes) ask(s endpoint.Signal, then func(endpoint.Answer, error)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	select {
	case n.asides <- struct{}{}:
	default:
		n.put(violation("flood", fmt.Sprintf("more than %d messages and calls at once", maxAsides)))
		return
	}
	n.wg.Go(func() {
		defer func() { <-n.asides }()
		then(n.raise(s))
	})
}

// close lets what is queued through when patient, then ends everything and
// waits.
func (n *notes) close(patient bool) {
	n.mu.Lock()
	if !n.closed {
		n.closed = true
		close(n.queue)
	}
	n.mu.Unlock()
	n.hangUp()
	if !patient {
		n.cancel()
	}
	n.wg.Wait()
	n.cancel()
}
