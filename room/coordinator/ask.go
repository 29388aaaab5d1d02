package coordinator

import (
	"context"
	"fmt"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

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

// currentPolicy returns the policy in force and loads it when it has changed.
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
