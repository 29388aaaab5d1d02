package coordinator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// reconcile cancels the effects that have gone, starts those that are missing
// and returns how long the room may wait for anything else; negative is for
// ever.
func (r *Room) reconcile(ctx context.Context) time.Duration {
	now := r.clock.now()
	wake := time.Duration(-1)
	sooner := func(at time.Duration) {
		if d := max(0, at-now); wake < 0 || d < wake {
			wake = d
		}
	}
	effects := r.state.Effects()
	keys := make([]string, len(effects))
	for i, e := range effects {
		keys[i] = e.Key()
	}
	r.gate.keep(keys)
	for i, e := range effects {
		if at := notBefore(e); at > now {
			sooner(at)
		} else {
			r.start(ctx, e, keys[i])
		}
	}
	if at, ok := r.state.Deadline(); ok {
		sooner(at)
	}
	return wake
}

func notBefore(e room.Effect) time.Duration {
	switch e := e.(type) {
	case room.Ask:
		return e.NotBefore
	case room.AskBid:
		return e.NotBefore
	}
	return 0
}

// start begins an effect unless it is under way or the gate is closed.
func (r *Room) start(ctx context.Context, e room.Effect, key string) {
	ectx, ok := r.gate.start(ctx, key)
	if !ok {
		return
	}
	run, err := r.runner(ectx, e)
	if err != nil {
		run = err.command
	}
	r.effects.Go(func() {
		req := request{cmd: run(), key: key}
		if ectx.Err() != nil {
			// It was cancelled and is no longer waited for; only a reply that
			// came all the same is worth a line in the log.
			if _, ok := req.cmd.Do.(room.Replied); !ok {
				return
			}
			req.key = ""
		}
		r.report(ctx, req)
	})
}

// report hands the result of an effect to the loop.
func (r *Room) report(ctx context.Context, req request) {
	select {
	case r.work <- req:
	case <-ctx.Done():
	}
}

// runner takes from the state what the effect needs; what it returns runs
// beside the loop and touches nothing of it.
func (r *Room) runner(ctx context.Context, e room.Effect) (func() room.Command, *effectError) {
	switch e := e.(type) {
	case room.Ask:
		return r.ask(ctx)
	case room.AskBid:
		return r.askBid(ctx, e)
	case room.Speak:
		return r.speak(ctx, e)
	}
	return nil, &effectError{"ROOM-EFFECT", errors.New("unknown effect")}
}

// effectError is an effect that cannot even be tried: the room cannot go on.
type effectError struct {
	code string
	err  error
}

func (b *effectError) command() room.Command {
	return room.Command{Actor: room.ActorRoom, Do: room.Broken{Code: b.code, Reason: b.err.Error()}}
}

func (r *Room) ask(ctx context.Context) (func() room.Command, *effectError) {
	in, err := r.state.Input(r.state.Policy, truncateToMS(r.clock.now()), r.texts.text)
	if err != nil {
		return nil, &effectError{"LOG-READ", err}
	}
	ref := r.state.Policy.Ref
	p, perr := r.currentPolicy(ctx, ref)
	through := r.state.Seq
	return func() room.Command {
		var d policy.Decision
		var rec policy.Record
		err := perr
		if err == nil {
			d, rec, err = propose(ctx, p, in)
		}
		rec.Decision, rec.Seed, rec.AskedAtMS, rec.Through = in.Decision, in.Seed, in.NowMS, through
		rec.Policy, rec.Digest = ref.Name, ref.Digest
		rec.State, rec.StateJSON = "", nil
		if err != nil {
			rec.Code = errorCode(err)
			rec.Error = strings.TrimSuffix(err.Error(), " ["+rec.Code+"]")
			rec.Fix = errorFix(err)
			return room.Command{Actor: room.ActorPolicy, Do: room.PolicyFailed{Record: rec}}
		}
		rec.StateJSON = nextState(in.State, d.State)
		rec.State = stateDigest(rec.StateJSON)
		return room.Command{Actor: room.ActorPolicy, Do: room.Decided{Decision: d, Record: rec}}
	}, nil
}

// propose asks p. A policy that panics has failed, and only its own room.
func propose(ctx context.Context, p Policy, in policy.Input) (d policy.Decision, rec policy.Record, err error) {
	defer func() {
		if v := recover(); v != nil {
			d, rec, err = policy.Decision{}, policy.Record{}, fmt.Errorf("the policy panicked: %v", v)
		}
	}()
	return p.Propose(ctx, in)
}

// nextState is the policy's state after a decision: absent leaves it, null
// clears it.
func nextState(before, said policy.JSON) policy.JSON {
	switch {
	case said == nil:
		return before
	case string(said) == "null":
		return nil
	}
	return said
}

// currentPolicy loads the policy in force, once.
func (r *Room) currentPolicy(ctx context.Context, ref room.PolicyRef) (Policy, error) {
	key := ref.Name + "\x00" + ref.Digest + "\x00" + string(ref.Settings)
	if r.policy == nil || r.policyRef != key {
		p, err := r.cfg.Policy(ctx, ref)
		if err != nil {
			return nil, err
		}
		r.policy, r.policyRef = p, key
	}
	return r.policy, nil
}

// errorCode returns the stable errorCode of an error, for records.
func errorCode(err error) string {
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		return coded.ErrorCode()
	}
	return "policy.failed"
}

// errorFix returns what a person can do about an error, for records.
func errorFix(err error) string {
	var fixed interface{ ErrorFix() string }
	if errors.As(err, &fixed) {
		return fixed.ErrorFix()
	}
	return ""
}

func (r *Room) speak(ctx context.Context, e room.Speak) (func() room.Command, *effectError) {
	p, ok := r.prompts[e.Request]
	delete(r.prompts, e.Request)
	failed := room.Failed{Turn: e.Turn, Request: e.Request}
	again := !ok && e.Request == r.inherited
	if !ok && !again {
		return func() room.Command {
			failed.Code, failed.Error = room.FailHeld, "its prompt was held back"
			return room.Command{Actor: e.Participant, Do: failed}
		}, nil
	}
	seat, err := r.endpointFor(ctx, e.Participant)
	epoch := r.state.Epoch
	return func() room.Command {
		start := time.Now()
		var reply endpoint.Reply
		if again && err == nil { // the same question, in the name of this process
			p, _, err = GrantedPrompt(ctx, r.cfg.Log, r.id, e.Turn)
			p.Epoch = epoch
		}
		if err == nil {
			reply, err = seat.speak(ctx, p, e.Timeout)
		}
		latency := time.Since(start)
		if err != nil {
			failed.Code, failed.Error, failed.Latency = failCode(err), err.Error(), latency
			failed.Usage = usage(reply.Usage)
			return room.Command{Actor: e.Participant, Do: failed}
		}
		return room.Command{Actor: e.Participant, Do: room.Replied{
			Turn: e.Turn, Participant: e.Participant, Request: e.Request, Outcome: reply.Outcome, Text: reply.Text,
			Reason: reply.Reason, Usage: usage(reply.Usage), Confidence: reply.Confidence, Latency: latency,
		}}
	}, nil
}

func usage(u endpoint.Usage) room.Usage {
	return room.Usage{Known: u.Known, Input: u.Input, Output: u.Output}
}

// failCode says what kind of failure a turn ended with.
func failCode(err error) string {
	switch {
	case errors.Is(err, endpoint.ErrInterrupted): // first: an agent that has ended may be started anew
		return room.FailInterrupted
	case errors.Is(err, endpoint.ErrExited), errors.Is(err, endpoint.ErrClosed):
		return room.FailExited
	case errors.Is(err, endpoint.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return room.FailTimeout
	case errors.Is(err, endpoint.ErrTooLarge):
		return room.FailTooLarge
	case errors.Is(err, endpoint.ErrProtocol):
		return room.FailProtocol
	case errors.Is(err, endpoint.ErrAgent):
		return room.FailAgent
	case errors.Is(err, endpoint.ErrDenied):
		return room.FailDenied
	case errors.Is(err, endpoint.ErrUntrusted):
		return room.FailUntrusted
	case errors.Is(err, endpoint.ErrUnreachable):
		return room.FailUnreachable
	case errors.Is(err, endpoint.ErrLimited):
		return room.FailLimited
	}
	return room.FailFailed
}

func (r *Room) askBid(ctx context.Context, e room.AskBid) (func() room.Command, *effectError) {
	p, err := prompt(ctx, &r.state, &r.texts, e.Participant, r.state.WindowFor(e.Participant), r.state.Tally.Turns+1, "bid_"+random(), nil)
	if err != nil {
		return nil, &effectError{"LOG-READ", err}
	}
	p.Kind = endpoint.Bid
	seat, serr := r.endpointFor(ctx, e.Participant)
	return func() room.Command {
		made := room.BidMade{Decision: e.Decision, Participant: e.Participant}
		reply, err := endpoint.Reply{}, serr
		if err == nil {
			reply, err = r.speakBid(ctx, seat, p, e.Timeout)
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
