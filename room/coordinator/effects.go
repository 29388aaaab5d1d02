package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// reconcile cancels the effects that the state no longer has, starts those
// that are missing, and returns how long the loop may wait for something else;
// a negative time means forever.
func (r *Room) reconcile(ctx context.Context) time.Duration {
	now := r.clock.now()
	wake := time.Duration(-1)
	wakeAt := func(at time.Duration) {
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
			wakeAt(at)
		} else {
			r.start(ctx, e, keys[i])
		}
	}
	if at, ok := r.state.Deadline(); ok {
		wakeAt(at)
	}
	return wake
}

// start begins an effect unless it is running or the gate is closed.
func (r *Room) start(ctx context.Context, e room.Effect, key string) {
	_, asks := e.(room.Ask)
	if asks && r.isQuick() && r.personWaits() {
		return // the command comes first
	}
	ectx, cut, ok := r.gate.start(ctx, key)
	if !ok {
		return
	}
	run, err := r.runner(ectx, e, cut)
	if err != nil {
		run = err.command
	}
	if asks && r.isQuick() {
		req := &request{cmd: run(), key: key}
		if ectx.Err() == nil {
			r.decided = req
		}
		return
	}
	r.effects.Go(func() {
		req := request{cmd: run(), key: key}
		if ectx.Err() != nil {
			// The room does not wait for a cancelled effect. Only a reply that
			// arrived all the same is recorded.
			if _, ok := req.cmd.Do.(room.Replied); !ok {
				return
			}
			req.key = ""
		}
		r.queued.Add(1)
		defer r.queued.Add(-1)
		select {
		case r.work <- req:
		case <-ctx.Done():
		}
	})
}

// runner reads from the state what the effect needs. The function that it
// returns runs outside the loop and does not touch the state. cut says that a
// closing gate has cancelled the effect before.
func (r *Room) runner(ctx context.Context, e room.Effect, cut bool) (func() room.Command, *effectError) {
	switch e := e.(type) {
	case room.Ask:
		return r.ask(ctx)
	case room.AskBid:
		return r.askBid(ctx, e)
	case room.Start:
		return r.startAgent(ctx, e)
	case room.Speak:
		return r.speak(ctx, e, cut)
	case room.RunCall:
		return r.runCall(ctx, e)
	case room.ServeAgent:
		return func() room.Command { return room.Command{Actor: room.ActorRoom, Do: room.Serve{}} }, nil
	}
	return nil, &effectError{"ROOM-EFFECT", errors.New("unknown effect")}
}

// ask puts the current decision to the policy. Its result is a
// [room.Decided] or, when the policy failed, a [room.PolicyFailed].
func (r *Room) ask(ctx context.Context) (func() room.Command, *effectError) {
	at := r.clock.now().Truncate(time.Millisecond) // policies count milliseconds
	cursor, through := r.state.Policy, r.state.Seq
	in, err := r.state.Input(cursor, at, r.texts.text)
	if err != nil {
		return nil, &effectError{"LOG-READ", err}
	}
	p, loadErr := r.currentPolicy(ctx, cursor.Ref)
	return func() room.Command {
		var d policy.Decision
		var run policy.Record
		err := loadErr
		if err == nil {
			d, run, err = propose(ctx, p, in)
		}
		rec := cursor.CompleteRecord(run, &in, through, d, err)
		if err != nil {
			return room.Command{Actor: room.ActorPolicy, Do: room.PolicyFailed{Record: rec}}
		}
		return room.Command{Actor: room.ActorPolicy, Do: room.Decided{Decision: d, Record: rec}}
	}, nil
}

// propose calls p.Propose and turns a panic into an error, so that a policy
// that panics fails in its own room only.
func propose(ctx context.Context, p Policy, in policy.Input) (d policy.Decision, run policy.Record, err error) {
	defer func() {
		if v := recover(); v != nil {
			d, run, err = policy.Decision{}, policy.Record{}, fmt.Errorf("the policy panicked: %v", v)
		}
	}()
	return p.Propose(ctx, in)
}

// isQuick reports whether the policy in force makes its next decision in the loop.
func (r *Room) isQuick() bool {
	p, ok := r.policy.(QuickPolicy)
	return ok && p.Quick()
}

// currentPolicy returns the policy in force and loads it when it has changed.
func (r *Room) currentPolicy(ctx context.Context, ref room.PolicyRef) (Policy, error) {
	if !r.hasPolicy(ref) {
		p, err := r.cfg.Policy(ctx, ref)
		if err != nil {
			return nil, err
		}
		r.policy, r.policyRef = p, ref
	}
	return r.policy, nil
}

// hasPolicy reports whether a policy is loaded and is the one in force.
func (r *Room) hasPolicy(ref room.PolicyRef) bool {
	have := r.policyRef
	return r.policy != nil && have.Name == ref.Name && have.Digest == ref.Digest && string(have.Settings) == string(ref.Settings)
}

// A workerPool runs functions outside the loop. An idle worker waits for the
// next function, so that a turn starts no goroutine and grows no stack. One worker at
// most is idle for long: rooms begin with more functions at the same time, such as the
// starts of all agents, than they ever have again.
type workerPool struct {
	runs    chan func()
	quit    <-chan struct{} // closed when idle workers may end
	workers sync.WaitGroup  // to wait for once quit is closed
	idle    atomic.Int32
}

// Go runs f at once in a goroutine of the pool.
func (p *workerPool) Go(f func()) {
	select {
	case p.runs <- f:
	default:
		p.workers.Go(func() {
			for more := true; more; {
				f()
				f, more = p.next()
			}
		})
	}
}

// next waits for a function. It returns false when the worker is to end.
func (p *workerPool) next() (f func(), more bool) {
	defer p.idle.Add(-1)
	if p.idle.Add(1) > 1 {
		return nil, false
	}
	select {
	case f = <-p.runs:
		return f, true
	case <-p.quit:
		return nil, false
	}
}
