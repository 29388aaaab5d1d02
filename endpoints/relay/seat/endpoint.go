// Package seat drives remote seats: participants of a room of this device whose
// agents are on another owner's device.
//
// An [Endpoint] sends each prompt as one request and waits for the one
// response. A request has an id. If the connection is cut, or the other device
// is restarted, the endpoint sends the request again with the same id, and the
// other device answers it without running its agent a second time. Responses to
// unknown requests, second responses and unsolicited text are violations: they
// are logged and counted, and never reach a transcript.
package seat

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/inflight"
	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// A Config says which agent of another owner to seat. Dispatcher, Device,
// Remote and Quota are required.
type Config struct {
	Dispatcher *relay.Dispatcher
	Device     identity.DeviceID // the agent's device
	Remote     string            // the agent's profile there
	// Profile is the profile of this device on whose behalf the agent is asked.
	Profile quota.Profile
	Quota   *quota.Quota
	// Trusted returns an error when the device may not be spoken to any more. It
	// is called every second while a response is awaited. Nil: only the Link
	// decides.
	Trusted func() error
	// Offline reports whether the device is said to be not connected. It is called
	// every second while a response is awaited, and watchers are told. Calls for one
	// seat never overlap. May be nil.
	Offline func() bool
	// Refused is called with a request that this device's own rules or limits did
	// not allow. May be nil.
	Refused func(p endpoint.Prompt, err error)
}

// An Endpoint drives one remote seat. Its methods may be called concurrently,
// but only one Speak at a time gets through.
type Endpoint struct {
	cfg     Config
	slot    chan struct{} // holds a token while a request is in flight
	signals *inflight.Queue
	done    chan struct{} // closed by Close
	resend  chan struct{} // holds a token when the device was restarted

	mu        sync.Mutex
	floor     endpoint.Floor // of the latest prompt
	requests  inflight.Table
	caller    context.Context // of the latest prompt
	last      endpoint.Prompt // the newest, in flight or ended
	heartbeat time.Time       // when one was shown last
	sessionID string          // of the agent when it last answered; "" is unknown
	closed    bool
	sends     sync.WaitGroup
	inquiry   inquiry
}

// New returns the endpoint of a remote seat.
func New(cfg Config) *Endpoint {
	e := &Endpoint{cfg: cfg, slot: make(chan struct{}, 1), done: make(chan struct{}), resend: make(chan struct{}, 1)}
	e.signals = inflight.NewQueue(e.currentFloor)
	cfg.Dispatcher.Add(cfg.Device, cfg.Remote, e)
	return e
}

func (e *Endpoint) currentFloor() endpoint.Floor {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.floor
}

// enter takes the slot. A request whose context has ended is about to release
// the slot, so enter waits for it: a room can be paused and resumed that fast.
func (e *Endpoint) enter(ctx context.Context) error {
	select {
	case e.slot <- struct{}{}:
		return nil
	default:
	}
	e.mu.Lock()
	x := e.requests.Open()
	e.mu.Unlock()
	if x != nil && x.Context.Err() == nil {
		return wire.Problem("AGENT-BUSY", "the remote agent has a request in flight", "wait for its answer", endpoint.ErrBusy)
	}
	select {
	case e.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return wire.Ended(ctx)
	}
}

// begin makes p the request in flight. ctx is that of the caller with a deadline.
func (e *Endpoint) begin(ctx, caller context.Context, p endpoint.Prompt, floor endpoint.Floor) (*inflight.Request, error) {
	if ctx.Err() != nil {
		return nil, wire.Ended(ctx)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, wire.ErrClosed
	}
	x, err := e.requests.Begin(ctx, p)
	if err != nil {
		return nil, wire.Problem("AGENT-PROTOCOL", "the request id "+endpoint.Quote(p.Request)+" was used before", "give every request an id of its own", endpoint.ErrProtocol)
	}
	e.caller, e.floor, e.last, e.heartbeat = caller, floor, p, time.Time{}
	select {
	case <-e.resend: // of an earlier request
	default:
	}
	return x, nil
}

// abandon ends x without a result. It reports false when x has ended.
func (e *Endpoint) abandon(x *inflight.Request) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.requests.Abandon(x)
}

// withdraw ends x, which was never sent.
func (e *Endpoint) withdraw(x *inflight.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests.Withdraw(x)
}

// sendCancel tells the other device that the result of p is not awaited any
// more. Bids are short and are not cancelled.
func (e *Endpoint) sendCancel(p endpoint.Prompt) {
	if p.Kind == endpoint.Bid {
		return
	}
	e.cfg.Dispatcher.Send(e.cfg.Device, envelope.Envelope{ID: p.Request, Type: envelope.TurnCancel, Profile: e.cfg.Remote, Room: p.Room, Epoch: p.Epoch, Turn: p.Turn})
}

// moved reports whether the room of a request goes on in another process, which sends the
// request again. It must not be cancelled then.
func moved(ctx context.Context) bool { return errors.Is(context.Cause(ctx), endpoint.ErrMoved) }

// Close ends the request in flight, cancels it on the other device, and waits
// for the goroutines of the endpoint.
func (e *Endpoint) Close() error {
	e.mu.Lock()
	was, x, caller := e.closed, e.requests.Open(), e.caller
	e.closed = true
	e.mu.Unlock()
	if was {
		return nil
	}
	if x != nil && !moved(caller) { // a context below that of the caller may end later
		e.sendCancel(x.Prompt)
	}
	close(e.done)
	e.cfg.Dispatcher.Remove(e.cfg.Device, e)
	e.signals.Close(false)
	return nil
}
