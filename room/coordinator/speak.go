package coordinator

import (
	"context"
	"errors"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// grant returns what turn.granted records of the prompt of a participant: its
// window, the digest of its text, and its size with the instructions. It keeps the prompt for
// speak. A participant that does not exist gets no prompt; [room.State.Decide] refuses it.
func (r *Room) grant(ctx context.Context, id string, hints policy.JSON) (room.Grant, error) {
	if _, ok := r.state.Seat(id); !ok {
		return room.Grant{}, nil
	}
	if !r.state.Policy.Ref.Hints {
		hints = nil
	}
	g := room.Grant{Request: "req_" + random(), Window: r.state.WindowFor(id)}
	p, err := prompt(ctx, &r.state, &r.texts, id, g.Window, r.state.Tally.Turns+1, g.Request, hints)
	if err != nil {
		return room.Grant{}, err
	}
	g.Prompt, g.Tokens = endpoint.Digest(p.Text), int64(endpoint.Size(p)+len(p.Instructions)+3)/4
	r.granted = grantedPrompt{prompt: p}
	return g, nil
}

// A grantedPrompt is the prompt of a turn between its grant and its start.
type grantedPrompt struct {
	prompt endpoint.Prompt
	seq    int64 // of the newest turn.granted
}

// openPrompt returns the prompt of the open turn, and whether it is as it was granted. If nothing
// has happened since the grant, it is that prompt. Otherwise it is made again.
func (r *Room) openPrompt(ctx context.Context, e room.Speak) (p endpoint.Prompt, same bool, err error) {
	g := r.granted
	r.granted = grantedPrompt{}
	if g.prompt.Request == e.Request && g.seq == r.state.Seq {
		return g.prompt, true, nil
	}
	p, err = prompt(ctx, &r.state, &r.texts, e.Participant, e.Window, e.Turn, e.Request, e.Hints)
	if x, ok := r.state.Seat(e.Participant); ok && x.Session && r.state.Turn != nil {
		p.Epoch = r.state.Turn.Epoch // its session may have the request since then, and answers with that epoch
	}
	return p, e.Digest == "" || e.Digest == endpoint.Digest(p.Text), err
}

// speak sends the prompt of the open turn. A prompt is sent once,
// and only as it was granted: one that a closing gate has cancelled (cut) or that
// the room has outdated is reported as [room.FailHeld], which interrupts the turn.
// A turn that an earlier process granted is sent in the name of this one; its
// endpoint answers a request only once.
func (r *Room) speak(ctx context.Context, e room.Speak, cut bool) (func() room.Command, *effectError) {
	p, same, err := r.openPrompt(ctx, e)
	if err != nil {
		return nil, &effectError{"LOG-READ", err}
	}
	failed := room.Failed{Turn: e.Turn, Request: e.Request}
	if cut || !same {
		return func() room.Command {
			failed.Code, failed.Error = room.FailHeld, "its prompt was held back"
			return room.Command{Actor: e.Participant, Do: failed}
		}, nil
	}
	d, openErr := r.endpointFor(ctx, e.Participant)
	return func() room.Command {
		start := time.Now()
		reply, err := endpoint.Reply{}, openErr
		if err == nil {
			reply, err = d.speak(ctx, p, e.Timeout)
		}
		latency := time.Since(start)
		if err != nil {
			failed.Code, failed.Error, failed.Usage, failed.Latency = failCode(err), err.Error(), reply.Usage, latency
			return room.Command{Actor: e.Participant, Do: failed}
		}
		return room.Command{Actor: e.Participant, Do: room.Replied{
			Turn: e.Turn, Participant: e.Participant, Request: e.Request, Reply: reply, Latency: latency,
		}}
	}, nil
}

// startAgent starts the agent of a seat.
func (r *Room) startAgent(ctx context.Context, e room.Start) (func() room.Command, *effectError) {
	d, err := r.endpointFor(ctx, e.Participant)
	return func() room.Command {
		began := time.Now()
		if err == nil {
			err = d.start(ctx, e.Timeout)
		}
		do := room.Started{Participant: e.Participant, Attempt: e.Attempt, Latency: time.Since(began)}
		if err != nil {
			do.Code, do.Error = failCode(err), err.Error()
		}
		return room.Command{Actor: e.Participant, Do: do}
	}, nil
}

// failCodes are the codes of failed turns by the endpoint's error. A restarted
// agent has also exited, so that ErrInterrupted precedes ErrExited.
var failCodes = []struct {
	err  error
	code string
}{
	{endpoint.ErrInterrupted, room.FailInterrupted},
	{endpoint.ErrExited, room.FailExited},
	{endpoint.ErrClosed, room.FailExited},
	{endpoint.ErrTimeout, room.FailTimeout},
	{context.DeadlineExceeded, room.FailTimeout},
	{endpoint.ErrTooLarge, room.FailTooLarge},
	{endpoint.ErrProtocol, room.FailProtocol},
	{endpoint.ErrAgent, room.FailAgent},
	{endpoint.ErrDenied, room.FailDenied},
	{endpoint.ErrUntrusted, room.FailUntrusted},
	{endpoint.ErrUnreachable, room.FailUnreachable},
	{endpoint.ErrLimited, room.FailLimited},
}

// failCode returns the code of a failed turn.
func failCode(err error) string {
	for _, f := range failCodes {
		if errors.Is(err, f.err) {
			return f.code
		}
	}
	return room.FailFailed
}

// askBid asks an agent how much it wants the floor.
func (r *Room) askBid(ctx context.Context, e room.AskBid) (func() room.Command, *effectError) {
	p, err := promptParts(ctx, &r.state, &r.texts, e.Participant, r.state.WindowFor(e.Participant), r.state.Tally.Turns+1, "bid_"+random(), nil)
	if err != nil {
		return nil, &effectError{"LOG-READ", err}
	}
	p.Kind = endpoint.Bid
	p = endpoint.Rendered(p)
	d, openErr := r.endpointFor(ctx, e.Participant)
	return func() room.Command {
		made := room.BidMade{Decision: e.Decision, Participant: e.Participant}
		reply, err := endpoint.Reply{}, openErr
		if err == nil {
			reply, err = r.speakBid(ctx, d, p, e.Timeout)
		}
		switch {
		case err != nil:
			made.Failed = failCode(err)
		case reply.Bid == nil:
			made.Failed = "no bid"
		default:
			made.Bid = policy.Bid{Score: *reply.Bid, Reason: reply.Reason}
		}
		return room.Command{Actor: e.Participant, Do: made}
	}, nil
}

// speakBid is [driver.speak] for a bid. No deadline of the state ends a bid,
// so this function returns soon after the time-out even if the endpoint
// ignores its context or the profile is busy in another room.
func (r *Room) speakBid(ctx context.Context, d *driver, p endpoint.Prompt, timeout time.Duration) (endpoint.Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout+time.Second)
	defer cancel()
	type result struct {
		reply endpoint.Reply
		err   error
	}
	out := make(chan result, 1)
	r.effects.Go(func() {
		reply, err := d.speak(ctx, p, timeout)
		out <- result{reply, err}
	})
	select {
	case got := <-out:
		return got.reply, got.err
	case <-ctx.Done():
		return endpoint.Reply{}, ctx.Err()
	}
}
