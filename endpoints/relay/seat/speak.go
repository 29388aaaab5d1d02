package seat

import (
	"context"
	"errors"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/quota"
)

// defaultTimeout bounds a request whose prompt states no time-out.
const defaultTimeout = 300 * time.Second

// Speak sends p to the remote agent and waits for its one answer. Errors wrap
// endpoint's: besides those of every endpoint ErrDenied, ErrLimited,
// ErrUntrusted, ErrUnreachable and ErrInterrupted. If ctx ends, the request is
// cancelled on the other device too.
func (e *Endpoint) Speak(ctx context.Context, p endpoint.Prompt, floor endpoint.Floor) (endpoint.Reply, error) {
	if err := e.enter(ctx); err != nil {
		return endpoint.Reply{}, err
	}
	defer func() { <-e.slot }()
	if p.Timeout <= 0 {
		p.Timeout = defaultTimeout
	}
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer e.sends.Wait()
	defer cancel()
	x, err := e.begin(ctx, caller, p, floor)
	if err != nil {
		return endpoint.Reply{}, err
	}
	leave, message, err := e.admit(ctx, p)
	if err != nil {
		e.withdraw(x)
		if e.cfg.Refused != nil && (errors.Is(err, endpoint.ErrDenied) || errors.Is(err, endpoint.ErrLimited)) {
			e.cfg.Refused(p, err)
		}
		return endpoint.Reply{}, err
	}
	defer leave()
	return e.exchange(ctx, x, message)
}

// admit checks this device's own rules and limits, and encodes the request.
func (e *Endpoint) admit(ctx context.Context, p endpoint.Prompt) (leave func(), message []byte, err error) {
	t, err := e.cfg.Profile.Outgoing(e.cfg.Dispatcher.Self(), e.cfg.Device, p.Trace, traceID(p))
	if err != nil {
		return nil, nil, err
	}
	if message, err = encode(p, e.cfg.Remote, e.knows(p), e.takesMessages(ctx, p), t); err != nil {
		return nil, nil, err
	}
	kind := p.Kind
	if kind == "" {
		kind = endpoint.Turn
	}
	leave, err = e.cfg.Quota.Enter(ctx, quota.Asking, e.cfg.Profile, e.cfg.Device, kind)
	return leave, message, err
}
