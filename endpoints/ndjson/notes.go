package ndjson

import (
	"context"
	"fmt"
	"sync"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

const (
	maxNotes  = 64  // signals that wait for the room
	maxCalls  = 8   // calls under way
	maxDetail = 300 // runes of a violation's detail
)

// notes carry signals to the room in their order, so that reading never waits
// for it. What does not fit is lost, counted, and told. Calls may take long,
// so each goes its own way.
type notes struct {
	ctx    context.Context // of everything; ends when the endpoint is closed
	cancel context.CancelFunc
	calls  context.Context // of calls; ends with the process that waits for them
	hangUp context.CancelFunc
	floor  func() endpoint.Floor

	queue   chan note
	calling chan struct{} // a token a call
	wg      sync.WaitGroup

	mu     sync.Mutex
	lost   int
	closed bool
}

// A note is a signal and who waits for the room's answer, if anybody does.
type note struct {
	signal endpoint.Signal
	then   func(endpoint.Answer, error)
}

func newNotes(floor func() endpoint.Floor) *notes {
	n := &notes{floor: floor, queue: make(chan note, maxNotes), calling: make(chan struct{}, maxCalls)}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.calls, n.hangUp = context.WithCancel(n.ctx)
	n.wg.Go(n.run)
	return n
}

func (n *notes) run() {
	for x := range n.queue {
		n.deliver(n.ctx, x)
		if lost := n.takeLost(); lost > 0 {
			n.deliver(n.ctx, note{signal: violation("flood", fmt.Sprintf("%d signals were lost: more than %d waited", lost, maxNotes))})
		}
	}
}

// deliver raises a signal. Before the first prompt there is no room to tell,
// and the room's own failure is the room's to report.
func (n *notes) deliver(ctx context.Context, x note) {
	ans, err := endpoint.Answer{Reason: "nobody listens"}, ctx.Err()
	if f := n.floor(); f != nil && err == nil {
		ans, err = f.Raise(ctx, x.signal)
	}
	if x.then != nil {
		x.then(ans, err)
	}
}

func (n *notes) takeLost() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	lost := n.lost
	n.lost = 0
	return lost
}

func (n *notes) violation(code, detail string) { n.put(note{signal: violation(code, detail)}) }

func violation(code, detail string) endpoint.Signal {
	return endpoint.Signal{Kind: endpoint.SignalViolation, Code: code, Detail: endpoint.CleanLine(detail, maxDetail)}
}

func (n *notes) late(request, text string) {
	n.put(note{signal: endpoint.Signal{Kind: endpoint.SignalLate, Code: request, Detail: text}})
}

func (n *notes) put(x note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	select {
	case n.queue <- x:
	default:
		n.lost++
	}
}

// call raises a call beside everything else. Too many at once are refused.
func (n *notes) call(x note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	select {
	case n.calling <- struct{}{}:
	default:
		x.signal = violation("flood", fmt.Sprintf("more than %d calls at once", maxCalls))
		then := x.then
		x.then = func(endpoint.Answer, error) { then(endpoint.Answer{Reason: "too many calls at once"}, nil) }
		select {
		case n.queue <- x:
		default:
			n.lost++
		}
		return
	}
	n.wg.Go(func() {
		defer func() { <-n.calling }()
		n.deliver(n.calls, x)
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
