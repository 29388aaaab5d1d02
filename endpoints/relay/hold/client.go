package hold

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/endpoints/relay/wire"
	held "github.com/folkmoot/moot/endpoints/session"
	"github.com/folkmoot/moot/problem"
)

// Times of a client's requests.
const (
	askAgain = 10 * time.Second       // without an answer, besides the time of the await
	askRetry = 500 * time.Millisecond // after a request that was not delivered
	// answerTime is how long an answer waits for the other device.
	answerTime = 60 * time.Second
)

// ErrSilent reports that the device of the room has not answered in time. The session
// awaits again: that device may come back.
var ErrSilent = errors.New("the device of the room does not answer")

// A Client holds seats of rooms of other devices. It is a relay.Handler.
type Client struct {
	dispatcher *relay.Dispatcher
	ctx        context.Context // of the dispatcher
	begun      chan struct{}   // closed by Begin

	mu    sync.Mutex
	calls map[string]*call // by id of the envelope
	sends sync.WaitGroup
}

// A call is a request that has no answer yet.
type call struct {
	to        identity.DeviceID
	answer    chan envelope.Envelope
	restarted chan struct{} // holds a token when the other device was restarted
}

// NewClient returns a client for one dispatcher.
func NewClient() *Client { return &Client{begun: make(chan struct{}), calls: map[string]*call{}} }

// Begin implements [relay.Handler].
func (c *Client) Begin(ctx context.Context, d *relay.Dispatcher) {
	c.ctx, c.dispatcher = ctx, d
	close(c.begun)
}

// End waits for the requests that are being sent. They end with the dispatcher.
func (c *Client) End() { c.sends.Wait() }

// PeerRestarted has the requests to a device sent again: it does not know them any
// more.
func (c *Client) PeerRestarted(from identity.DeviceID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range c.calls {
		if q.to == from {
			select {
			case q.restarted <- struct{}{}:
			default:
			}
		}
	}
}

// Take handles the answer to a request.
func (c *Client) Take(from identity.DeviceID, e envelope.Envelope) bool {
	switch e.Type {
	case envelope.SeatTurn, envelope.SeatAnswered, envelope.Error:
	default:
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.calls[e.ID]
	if q == nil || q.to != from {
		return e.Type != envelope.Error // one for an await that this device has ended
	}
	select {
	case q.answer <- e:
	default: // it has one
	}
	return true
}

// Await asks for the turn of a seat, and waits for it, at most for wait and
// [wire.MaxAwait]. Errors: ErrSilent, that of ctx, or a problem for the user.
//
// The prompt is rendered here: all text of the room is quoted as that of its owner.
func (c *Client) Await(ctx context.Context, host identity.Peer, s held.Seat, wait time.Duration, fresh bool) (Turn, error) {
	wait = min(wait, wire.MaxAwait)
	e := envelope.Envelope{ID: rand.Text(), Type: envelope.SeatAwait, Room: s.Room, Body: wire.Body(wire.SeatAwait{Seat: s.Name, WaitMS: wait.Milliseconds(), Fresh: fresh})}
	e, err := c.ask(ctx, host.ID, e, wait+askAgain)
	if err != nil {
		return Turn{}, err
	}
	var t wire.SeatTurn
	if e.Type != envelope.SeatTurn || e.DecodeBody(&t) != nil || t.Check() != nil {
		return Turn{}, errUnreadable
	}
	if t.State != wire.SeatHasTurn {
		return Turn{Over: t.Phase}, nil
	}
	p := t.Prompt.Prompt(s.Name, func(string) bool { return false }) // this device keeps no record of what its sessions say
	p.Kind, p.Request, p.Epoch, p.Turn = endpoint.Turn, t.Request, e.Epoch, e.Turn
	p.Room, p.Profile, p.Boundary = host.ID.Short()+"/"+s.Room, s.Name, rand.Text()
	p.Session, p.Host = p.Room, endpoint.Origin{Name: host.Name, Device: host.ID.String()}
	return Turn{Turn: held.Turn{
		Seat: s, Request: held.Request{ID: t.Request, Epoch: e.Epoch}, Number: e.Turn,
		Deadline: time.Now().Add(time.Duration(t.LeftMS) * time.Millisecond), Text: endpoint.Rendered(p).Text,
	}}, nil
}

// Answer gives the answer of a session to the device of the room, and returns when the
// room has stored it. Errors: as of Await.
func (c *Client) Answer(ctx context.Context, to identity.DeviceID, s held.Seat, a Answer) (Answered, error) {
	q := wire.SeatAnswer{Seat: s.Name, Request: a.Request, Outcome: a.Outcome, Text: a.Text, Reason: a.Reason, Confidence: a.Confidence}
	ctx, cancel := context.WithTimeoutCause(ctx, answerTime, ErrSilent)
	defer cancel()
	e, err := c.ask(ctx, to, envelope.Envelope{ID: rand.Text(), Type: envelope.SeatAnswer, Room: s.Room, Epoch: a.Epoch, Body: wire.Body(q)}, askAgain)
	if err != nil {
		return Answered{}, err
	}
	var done wire.SeatAnswered
	if e.Type != envelope.SeatAnswered || e.DecodeBody(&done) != nil || done.Check() != nil {
		return Answered{}, errUnreadable
	}
	return Answered{done.Outcome, e.Turn, done.Seq}, nil
}

// ask sends a request, again with the same id when it was lost or came too often, until
// it is answered.
// again is how long an answer may take.
func (c *Client) ask(ctx context.Context, to identity.DeviceID, e envelope.Envelope, again time.Duration) (envelope.Envelope, error) {
	b, err := envelope.Encode(e)
	if err != nil {
		return e, problemOf(wire.ReplySize)
	}
	select {
	case <-c.begun:
	case <-ctx.Done():
		return e, context.Cause(ctx)
	}
	q := &call{to, make(chan envelope.Envelope, 1), make(chan struct{}, 1)}
	c.mu.Lock()
	c.calls[e.ID] = q
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, e.ID)
	}()
	sent := c.send(ctx, to, b)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case a := <-q.answer:
			r, err := refusal(a)
			if r.Code != wire.ReplyLimit {
				return a, err
			}
			timer.Reset(max(askRetry, min(time.Duration(r.RetryMS)*time.Millisecond, askAgain)))
		case err := <-sent:
			sent = nil
			switch {
			case errors.Is(err, session.ErrUnknownPeer), errors.Is(err, session.ErrSuspended), errors.Is(err, session.ErrTooLarge):
				return e, wire.Undeliverable(err)
			case err != nil:
				timer.Reset(askRetry)
			default:
				timer.Reset(again)
			}
		case <-q.restarted:
			if sent == nil { // otherwise the Link delivers the request, or reports that it does not
				sent = c.send(ctx, to, b)
			}
		case <-timer.C:
			sent = c.send(ctx, to, b)
		case <-ctx.Done():
			c.dispatcher.Send(to, envelope.Envelope{ID: e.ID, Type: envelope.Bye, Room: e.Room})
			return e, context.Cause(ctx)
		case <-c.ctx.Done():
			return e, ErrSilent // the caller connects again
		}
	}
}

// send sends a request in the background, and returns the result of the delivery.
func (c *Client) send(ctx context.Context, to identity.DeviceID, b []byte) <-chan error {
	sent := make(chan error, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return sent
	}
	c.sends.Go(func() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(c.ctx, cancel)()
		sent <- c.dispatcher.Deliver(ctx, to, b)
	})
	return sent
}

var errUnreadable = wire.Problem("AGENT-PROTOCOL", "the answer of the other owner's device cannot be read", "ask its owner which release of moot it runs", endpoint.ErrProtocol)

// refusal returns the reply that refuses a request, and the error that it states.
func refusal(e envelope.Envelope) (r wire.Reply, err error) {
	if e.Type != envelope.Error {
		return r, nil
	}
	if e.DecodeBody(&r) != nil || r.Check() != nil || r.Status != wire.StatusError {
		return wire.Reply{}, errUnreadable
	}
	return r, problemOf(r.Code)
}

// problemOf says in words of this device what a code of the other one means.
func problemOf(code string) error {
	switch code {
	case wire.ReplyDenied:
		return wire.Problem("RELAY-DENIED", "the other owner's device does not let this one hold the seat", "ask its owner for an invite: `moot invite --seat`", endpoint.ErrDenied)
	case wire.ReplyAnswered:
		return &problem.Error{Code: "SEAT-ANSWERED", What: "the request was answered before", Fix: "await the next turn"}
	case wire.ReplyClosed:
		return &problem.Error{Code: "SEAT-REQUEST", What: "the request is not open any more", Fix: "await the next turn"}
	case wire.ReplyTaken:
		return &problem.Error{Code: "SEAT-AWAIT", What: "another await has taken the seat over", Fix: "let one session await the turns of a seat"}
	case wire.ReplySize:
		return &problem.Error{Code: "SEAT-SIZE", What: "the answer is longer than the room allows", Fix: "shorten it and answer again; the turn is still open"}
	case wire.ReplyOver:
		return &problem.Error{Code: "ROOM-OVER", What: "the room has ended", Fix: "await no further turn; the room is over"}
	}
	return wire.Problem("SEAT-HOST", "the other owner's device could not do it", "ask its owner: the log there says why", endpoint.ErrAgent)
}
