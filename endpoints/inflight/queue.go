package inflight

import (
	"context"
	"fmt"
	"sync"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

const (
	maxQueued = 64  // signals that wait for the room
	maxCalls  = 8   // calls in progress
	maxDetail = 300 // runes of a violation's detail
)

// A Queue delivers signals to the room in order. Its methods never wait for
// the room, except Close, and may be called concurrently. Signals that do not
// fit are dropped, counted, and reported as the violation "flood"; they are answered
// with a refusal. Calls may take long, so each has a goroutine of its own.
type Queue struct {
	floor func() endpoint.Floor

	ctx       context.Context // of all deliveries
	cancel    context.CancelFunc
	calls     context.Context // of calls; ends first at Close
	stopCalls context.CancelFunc

	queue   chan queued
	calling chan struct{} // a token for each call
	wg      sync.WaitGroup

	mu      sync.Mutex
	dropped int
	refused []func(endpoint.Answer, error) // of dropped signals, at most maxQueued
	closed  bool
}

type queued struct {
	signal endpoint.Signal              // without a kind there is nothing to raise
	then   func(endpoint.Answer, error) // may be nil
}

// NewQueue returns a queue that delivers to the floor that the function
// returns at the time; nil drops the signal. The caller closes the queue.
func NewQueue(floor func() endpoint.Floor) *Queue {
	q := &Queue{floor: floor, queue: make(chan queued, maxQueued), calling: make(chan struct{}, maxCalls)}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	q.calls, q.stopCalls = context.WithCancel(q.ctx)
	q.wg.Go(q.run)
	return q
}

func (q *Queue) run() {
	for s := range q.queue {
		q.deliver(q.ctx, s)
		n, refused := q.takeDropped()
		for _, then := range refused {
			then(endpoint.Answer{Reason: "too many messages at once"}, nil)
		}
		if n > 0 {
			q.deliver(q.ctx, queued{signal: violation("flood", fmt.Sprintf("%d signals were dropped: more than %d waited", n, maxQueued))})
		}
	}
}

// deliver raises a signal. Before the first prompt there is no floor. An error
// of the room is for the room to report.
func (q *Queue) deliver(ctx context.Context, s queued) {
	answer, err := endpoint.Answer{Reason: "there is no room to tell"}, ctx.Err()
	if s.signal.Kind == "" {
		answer, err = endpoint.Answer{}, nil
	} else if f := q.floor(); f != nil && err == nil {
		answer, err = f.Raise(ctx, s.signal)
	}
	if s.then != nil {
		s.then(answer, err)
	}
}

func (q *Queue) takeDropped() (n int, refused []func(endpoint.Answer, error)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, refused = q.dropped, q.refused
	q.dropped, q.refused = 0, nil
	return n, refused
}

// Flush waits until the room has taken all signals that were queued before, until ctx
// ends, or until the queue is closed. It does not wait for calls.
func (q *Queue) Flush(ctx context.Context) {
	done := make(chan struct{})
	q.mu.Lock()
	select {
	case <-q.ctx.Done():
		close(done)
	default:
		if q.closed || !q.put(queued{then: func(endpoint.Answer, error) { close(done) }}) {
			close(done)
		}
	}
	q.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
	case <-q.ctx.Done():
	}
}

// Put queues a signal.
func (q *Queue) Put(s endpoint.Signal) { q.Ask(s, nil) }

// Violation queues a violation of the rule code.
func (q *Queue) Violation(code, detail string) { q.Put(violation(code, detail)) }

func violation(code, detail string) endpoint.Signal {
	return endpoint.Signal{Kind: endpoint.SignalViolation, Code: code, Detail: endpoint.CleanLine(detail, maxDetail)}
}

// Late queues the text of a response that arrived after its request had ended.
func (q *Queue) Late(request, text string) {
	q.Put(endpoint.Signal{Kind: endpoint.SignalLate, Code: request, Detail: text})
}

// Ask queues a signal and calls then, on the queue's goroutine, with the
// room's answer.
func (q *Queue) Ask(s endpoint.Signal, then func(endpoint.Answer, error)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed && !q.put(queued{s, then}) {
		q.dropped++
		if then != nil && len(q.refused) < maxQueued {
			q.refused = append(q.refused, then)
		}
	}
}

// put reports whether there was room for s. The caller holds mu.
func (q *Queue) put(s queued) bool {
	select {
	case q.queue <- s:
		return true
	default:
		return false
	}
}

// Call raises a call outside the order of the queue and calls then with the
// room's answer. Calls beyond the limit are refused.
func (q *Queue) Call(s endpoint.Signal, then func(endpoint.Answer, error)) {
	q.CallContext(context.Background(), s, then)
}

// CallContext is [Queue.Call] for a question that also ends with ctx.
func (q *Queue) CallContext(ctx context.Context, s endpoint.Signal, then func(endpoint.Answer, error)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	select {
	case q.calling <- struct{}{}:
	default:
		refuse := func(endpoint.Answer, error) { then(endpoint.Answer{Reason: "too many calls at once"}, nil) }
		if !q.put(queued{violation("flood", fmt.Sprintf("more than %d calls at once", maxCalls)), refuse}) {
			q.dropped++
		}
		return
	}
	q.wg.Go(func() {
		defer func() { <-q.calling }()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(q.calls, cancel)()
		q.deliver(ctx, queued{s, then})
	})
}

// Context ends when the queue is cancelled or closed.
func (q *Queue) Context() context.Context { return q.ctx }

// Cancel ends the delivery in progress and drops all others.
func (q *Queue) Cancel() { q.cancel() }

// Close ends all calls and waits for the queue's goroutines. With drain it
// delivers the queued signals first; otherwise it drops them.
func (q *Queue) Close(drain bool) {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		close(q.queue)
	}
	q.mu.Unlock()
	q.stopCalls()
	if !drain {
		q.cancel()
	}
	q.wg.Wait()
	q.cancel()
}
