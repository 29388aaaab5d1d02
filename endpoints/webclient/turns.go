package webclient

import (
	"context"
	"errors"
	"sync"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
)

// ErrClosed is the error of requests after Close. It wraps endpoint.ErrClosed.
var ErrClosed error = &problem.Error{Code: "AGENT-CLOSED", What: "the agent's endpoint has been closed", Fix: "restore the seat", Kind: endpoint.ErrClosed}

// Turns holds the requests of an endpoint that asks a server: one at a time, each
// until its time-out, the end of its caller, or Close. Its methods may be called
// concurrently.
type Turns struct {
	slot chan struct{}   // holds a token while a request is in flight, and after Close
	life context.Context // ends with Close
	end  context.CancelFunc
	once sync.Once
}

// NewTurns returns Turns that the caller closes.
func NewTurns() *Turns {
	t := &Turns{slot: make(chan struct{}, 1)}
	t.life, t.end = context.WithCancel(context.Background())
	return t
}

// Speak calls ask for a turn, with a context that ends with p.Timeout and Close too.
// An error of ask becomes that of explain, which gets the context of ask; a broken
// protocol is raised on the floor as well. A bid is a pass at once. A second request
// is refused with endpoint.ErrBusy, and one after Close with [ErrClosed].
func (t *Turns) Speak(ctx context.Context, p endpoint.Prompt, floor endpoint.Floor,
	ask func(context.Context) (endpoint.Reply, error), explain func(call context.Context, err error) error,
) (endpoint.Reply, error) {
	select {
	case t.slot <- struct{}{}:
		defer func() { <-t.slot }()
	default:
		if t.life.Err() != nil {
			return endpoint.Reply{}, ErrClosed
		}
		return endpoint.Reply{}, endpoint.ErrBusy
	}
	if p.Kind == endpoint.Bid {
		return endpoint.Reply{Outcome: endpoint.Passed}, ctx.Err()
	}
	call, done := t.Bound(ctx)
	defer done()
	if p.Timeout > 0 {
		var cancel context.CancelFunc
		call, cancel = context.WithTimeout(call, p.Timeout)
		defer cancel()
	}
	reply, err := ask(call)
	if err == nil {
		return reply, nil
	}
	err = explain(call, err)
	raise(ctx, floor, err)
	return endpoint.Reply{Usage: reply.Usage}, err
}

// Bound returns ctx so that Close ends it too. The caller calls done.
func (t *Turns) Bound(ctx context.Context) (call context.Context, done func()) {
	call, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(t.life, cancel)
	return call, func() { stop(); cancel() }
}

// Closed reports whether Close was called.
func (t *Turns) Closed() bool { return t.life.Err() != nil }

// Close ends the request in flight, waits for it, and calls then once.
func (t *Turns) Close(then func()) {
	t.once.Do(func() {
		t.end()
		t.slot <- struct{}{}
		then()
	})
}

// Expired reports whether a call of Speak, made for ctx, has run out of time.
func Expired(ctx, call context.Context) bool {
	return errors.Is(ctx.Err(), context.DeadlineExceeded) || ctx.Err() == nil && errors.Is(call.Err(), context.DeadlineExceeded)
}

// raise reports a broken protocol on the floor, which may be nil.
func raise(ctx context.Context, floor endpoint.Floor, err error) {
	code := ""
	switch {
	case floor == nil:
		return
	case errors.Is(err, endpoint.ErrTooLarge):
		code = "too_large"
	case errors.Is(err, endpoint.ErrProtocol):
		code = "malformed"
	default:
		return
	}
	_, _ = floor.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalViolation, Code: code, Detail: err.Error()}) // the turn fails in any case
}
