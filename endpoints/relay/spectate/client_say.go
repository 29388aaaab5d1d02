package spectate

import (
	"context"
	"errors"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

const (
	sayRetry    = 200 * time.Millisecond // after a message that was not delivered
	maxSayDelay = 5 * time.Minute        // the longest wait that a host may ask for
)

// Say posts a message in the room. It waits until the host has shown the room,
// and then until the message was posted or refused. The message is posted at
// most once, even if it is sent again. Errors wrap endpoint.ErrDenied,
// ErrLimited, ErrTooLarge, ErrClosed and ErrAgent.
func (c *Client) Say(ctx context.Context, text string) error {
	id := c.newID()
	for {
		r, err := c.sayOnce(ctx, id, text)
		if err != nil {
			return err
		}
		if r.Status == wire.StatusOK {
			return nil
		}
		if r.Code != wire.ReplyLimit || r.RetryMS == 0 || r.RetryMS > maxSayDelay.Milliseconds() {
			return notPosted(r.Code)
		}
		if !sleep(ctx, time.Duration(r.RetryMS)*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// sayOnce sends a message, again when it may have been lost, until there is a
// reply.
func (c *Client) sayOnce(ctx context.Context, id, text string) (r wire.Reply, err error) {
	select {
	case <-c.entered:
	case <-c.done:
		return r, notPosted(wire.ReplyOver)
	case <-ctx.Done():
		return r, ctx.Err()
	}
	for {
		reply := make(chan envelope.Envelope, 1)
		c.mu.Lock()
		c.says[id] = reply
		again := c.again
		c.mu.Unlock()
		sent := c.send(ctx, envelope.Envelope{ID: id, Type: envelope.Message, Room: c.cfg.Room, Body: wire.Body(wire.Say{Text: text})})
		e, ok, err := c.awaitReply(ctx, reply, sent, again)
		if err != nil {
			return r, err
		}
		if !ok {
			continue
		}
		if err := e.DecodeBody(&r); err != nil || r.Check() != nil || r.Status == wire.StatusOK != (e.Type == envelope.Status) {
			return r, wire.Problem("AGENT-PROTOCOL", "the answer of the other owner's device cannot be read", "ask its owner which release of moot it runs", endpoint.ErrProtocol)
		}
		return r, nil
	}
}

// awaitReply waits for the reply to a message. Without ok and error the message
// must be sent again.
func (c *Client) awaitReply(ctx context.Context, reply <-chan envelope.Envelope, sent <-chan error, again <-chan struct{}) (e envelope.Envelope, ok bool, err error) {
	t := time.NewTimer(askAgain)
	defer t.Stop()
	for {
		select {
		case e = <-reply:
			return e, true, nil
		case err := <-sent:
			sent = nil
			switch {
			case errors.Is(err, session.ErrUnknownPeer), errors.Is(err, session.ErrSuspended), errors.Is(err, session.ErrTooLarge):
				return e, false, wire.Undeliverable(err)
			case err != nil:
				sleep(ctx, sayRetry)
				return e, false, nil
			}
			t.Reset(askAgain)
		case <-again:
			again = nil
			if sent == nil {
				return e, false, nil
			}
		case <-t.C:
			if sent == nil {
				return e, false, nil
			}
		case <-c.done:
			return e, false, notPosted(wire.ReplyOver)
		case <-ctx.Done():
			return e, false, ctx.Err()
		}
	}
}
