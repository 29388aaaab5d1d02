package spectate

import (
	"context"
	"errors"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/endpoints/relay/wire"
	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/problem"
)

// Times of a client's requests.
const (
	askAgain    = emptyAfter + 10*time.Second // without an answer
	askRetry    = 2 * time.Second             // after a request that was not delivered
	silentAfter = 5 * time.Second             // until Silent is called
)

// ask sends a subscribe request, again when it was lost, until it is answered.
func (c *Client) ask(ctx context.Context) (e envelope.Envelope, err error) {
	var giveUp <-chan time.Time
	if c.cfg.Wait > 0 {
		t := time.NewTimer(c.cfg.Wait)
		defer t.Stop()
		giveUp = t.C
	}
	silent := time.NewTimer(silentAfter + emptyAfter)
	if !c.known {
		silent.Reset(silentAfter)
	}
	defer silent.Stop()
	sent, again := c.subscribe(ctx), (<-chan time.Time)(nil)
	var last error
	for {
		select {
		case e = <-c.answers:
			if e.Type != envelope.Error || replyCode(e) != wire.ReplyAbsent {
				return e, nil
			}
			again = time.After(askRetry)
		case err := <-sent:
			sent = nil
			switch {
			case errors.Is(err, session.ErrUnknownPeer), errors.Is(err, session.ErrSuspended):
				return e, wire.Undeliverable(err)
			case err != nil:
				last, again = err, time.After(askRetry)
			default:
				again = time.After(askAgain)
			}
		case <-c.restarted:
			if sent == nil { // otherwise the Link delivers the request, or reports that it does not
				sent, again = c.subscribe(ctx), nil
			}
		case <-again:
			sent, again = c.subscribe(ctx), nil
		case <-silent.C:
			if c.cfg.Silent != nil {
				c.cfg.Silent()
			}
		case <-giveUp:
			return e, c.unanswered(last)
		case <-ctx.Done():
			return e, ctx.Err()
		case <-c.ctx.Done():
			return e, context.Cause(c.ctx)
		}
	}
}

// unanswered returns the error for a host that has not answered in time.
func (c *Client) unanswered(err error) error {
	return &problem.Error{
		Code: "RELAY-UNREACHABLE", What: "the other owner's device has not answered for " + human.Duration(c.cfg.Wait), Err: err, Kind: endpoint.ErrUnreachable,
		Fix: "see that `moot run` runs the room there and both use the same relay",
	}
}

// subscribe sends a subscribe request with a new id, and returns the result of
// the delivery.
func (c *Client) subscribe(ctx context.Context) <-chan error {
	q := wire.Subscribe{Last: c.cfg.Last}
	if c.known {
		q = wire.Subscribe{After: &c.after}
	}
	e := envelope.Envelope{ID: c.newID(), Type: envelope.Watch, Room: c.room, Body: wire.Body(q)}
	c.mu.Lock()
	c.request = e.ID
	c.mu.Unlock()
	return c.send(ctx, e)
}
