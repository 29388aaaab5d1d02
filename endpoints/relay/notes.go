package relay

import (
	"context"
	"fmt"
	"sync"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

const (
	maxNotes  = 64  // signals that wait for the room
	maxDetail = 300 // runes of a violation's detail
)

// notes carry signals to the room in their order, so that what arrives never
// waits for it. What does not fit is lost, counted, and told.
type notes struct {
	floor  func() endpoint.Floor
	ctx    context.Context
	cancel context.CancelFunc
	queue  chan endpoint.Signal
	done   chan struct{}

	mu     sync.Mutex
	lost   int
	closed bool
}

func newNotes(floor func() endpoint.Floor) *notes {
	n := &notes{floor: floor, queue: make(chan endpoint.Signal, maxNotes), done: make(chan struct{})}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	go n.run() // close waits for it
	return n
}

func (n *notes) run() {
	defer close(n.done)
	for s := range n.queue {
		n.deliver(s)
		if lost := n.takeLost(); lost > 0 {
			n.deliver(violation("flood", fmt.Sprintf("%d signals were lost: more than %d waited", lost, maxNotes)))
		}
	}
}

// deliver raises a signal. Before the first prompt there is no room to tell,
// and the room's own failure is the room's to report.
func (n *notes) deliver(s endpoint.Signal) {
	if f := n.floor(); f != nil && n.ctx.Err() == nil {
		_, _ = f.Raise(n.ctx, s)
	}
}

func (n *notes) takeLost() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	lost := n.lost
	n.lost = 0
	return lost
}

func violation(code, detail string) endpoint.Signal {
	return endpoint.Signal{Kind: endpoint.SignalViolation, Code: code, Detail: endpoint.CleanLine(detail, maxDetail)}
}

func (n *notes) put(s endpoint.Signal) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	select {
	case n.queue <- s:
	default:
		n.lost++
	}
}

// close drops what waits and ends: the room that closes us may not listen any
// more.
func (n *notes) close() {
	n.mu.Lock()
	if !n.closed {
		n.closed = true
		close(n.queue)
	}
	n.mu.Unlock()
	n.cancel()
	<-n.done
}
