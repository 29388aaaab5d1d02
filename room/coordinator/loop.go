package coordinator

import (
	"context"
	"errors"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// Run runs the room until it has ended for good, until ctx ends or, when
// headless, until it is not live. When Run returns, nothing of the room is
// running and the room is unlocked. It returns [ErrFenced] when another process
// has taken the room over.
func (r *Room) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer r.shutDown()
	defer func() { cancel(r.cause()) }()
	r.stopping = ctx.Done()
	alarm := time.NewTimer(time.Hour)
	defer alarm.Stop()
	for {
		if r.mayLeave() {
			return r.snapshotOnExit(context.WithoutCancel(ctx))
		}
		if err := fatalCause(r.id, r.measure(ctx)); err != nil {
			return err
		}
		wake := r.untilBudget(r.reconcile(ctx))
		if r.finished() {
			if !r.cfg.hosted {
				return r.save(context.WithoutCancel(ctx))
			}
			r.hub.end()
		}
		r.markIdle(wake)
		req, ok := r.next(ctx, wake, alarm)
		if !ok && ctx.Err() == nil {
			continue // the room was released
		}
		if !ok {
			return errors.Join(ctx.Err(), r.snapshotOnExit(context.WithoutCancel(ctx)))
		}
		events, err := r.handle(ctx, req)
		if req.out != nil {
			req.out <- answer{events, err}
		}
		if err := fatalCause(r.id, err); err != nil {
			return err
		}
	}
}

// finished reports whether the room needs no Run any more.
func (r *Room) finished() bool {
	switch {
	case r.state.Phase == room.PhaseLive, r.cancelsCalls():
		return false
	case r.state.Spec.Call != nil:
		return r.state.Phase != room.PhasePaused
	case r.cfg.Headless:
		return true
	}
	return r.state.Phase == room.PhaseCompleted && r.state.Ending.Cause != room.CauseSettled
}

// cancelsCalls reports whether a call that is cancelled has not ended yet.
func (r *Room) cancelsCalls() bool {
	for _, c := range r.state.Calls {
		if c.State.Open() && c.Canceling != "" {
			return true
		}
	}
	return false
}

// next waits for the next request. Commands of people come before results of
// effects, and a tick comes last. ok is false when ctx ends or the room is released.
func (r *Room) next(ctx context.Context, wake time.Duration, alarm *time.Timer) (req request, ok bool) {
	if r.personWaits() {
		req := *r.taken
		r.taken = nil
		return req, true
	}
	if d := r.decided; d != nil {
		r.decided = nil
		return *d, true
	}
	var tick <-chan time.Time
	if alarm.Stop(); wake >= 0 {
		alarm.Reset(wake)
		tick = alarm.C
	}
	select {
	case <-ctx.Done():
		return request{}, false
	case <-r.leave:
		return request{}, false
	case req := <-r.people:
		return req, true
	case req := <-r.abandoned:
		return req, true
	case req := <-r.work:
		return req, true
	case <-tick:
		return request{cmd: room.Command{Actor: room.ActorRoom, Do: room.Tick{}}}, true
	}
}

// personWaits reports whether a command of a person waits. It takes the command for next.
func (r *Room) personWaits() bool {
	if r.taken != nil {
		return true
	}
	select {
	case req := <-r.people:
		r.taken = &req
	case req := <-r.abandoned:
		r.taken = &req
	default:
		return false
	}
	return true
}

// handle decides, appends and applies one command.
func (r *Room) handle(ctx context.Context, req request) ([]room.Event, error) {
	if req.key != "" {
		r.gate.end(req.key)
	}
	if _, next := req.cmd.Do.(room.Next); next {
		if err := r.measure(ctx); err != nil { // the seat may have a budget again
			return nil, err
		}
	}
	cmd := r.prepare(ctx, req.cmd)
	if _, broken := cmd.Do.(room.Broken); broken && ctx.Err() != nil {
		return nil, ErrClosed // the log could not be read because Run ends; the next host goes on
	}
	now := r.now()
	events, err := r.state.Decide(cmd, now)
	if err == nil {
		events, err = r.reserve(ctx, cmd, events, now)
	}
	if aerr := r.auditRefusal(cmd, err); aerr != nil {
		return nil, fatalError{aerr}
	}
	if err == nil && len(events) > 0 {
		err = r.commit(ctx, change{cmd, events, now})
	}
	if req.held {
		r.gate.open() // a paused state has no effects; after a refused command they may start again
	}
	return events, err
}

// prepare adds to a command what needs the log: the grant of the participant
// that is about to get the floor, or the drafts of a message to redact.
func (r *Room) prepare(ctx context.Context, cmd room.Command) room.Command {
	var err error
	switch do := cmd.Do.(type) {
	case room.Decided:
		do.Unattended = r.cfg.Unattended
		if do.Decision.Action == policy.ActionSpeak {
			d, _ := r.state.Explore(do.Decision, &do.Record)
			do.Grant, err = r.grant(ctx, d.Agent, d.Hints)
		}
		cmd.Do = do
	case room.Next:
		do.Grant, err = r.grant(ctx, do.Participant, nil)
		cmd.Do = do
	case room.Serve:
		do.Grant, err = r.grant(ctx, r.state.Spec.Call.Agent, nil)
		cmd.Do = do
	case room.Redact:
		if do.Target > 0 && do.Target <= r.state.Seq {
			do.Drafts, err = r.eventsWith(ctx, do.Target)
			cmd.Do = do
		}
	}
	if err != nil {
		return (&effectError{"LOG-READ", err}).command()
	}
	return cmd
}

// updateControllers publishes who may pause and stop, for lock-free reads.
func (r *Room) updateControllers() {
	controllers := map[string]bool{room.ActorHost: true}
	for _, x := range r.state.Seats {
		if x.Controls() {
			controllers[x.ID] = true
		}
	}
	r.controllers.Store(&controllers)
}

// shutDown ends everything that the room has started and unlocks it.
func (r *Room) shutDown() {
	close(r.quit)
	r.gate.close()
	for id := range r.endpoints {
		r.closeEndpoint(id)
	}
	r.nest.close()
	r.effects.workers.Wait()
	r.endWaiting()
	r.hub.end()
	for _, o := range r.cfg.Observers {
		o.Unloaded(r.id)
	}
	r.unlock() // before done: a caller that waits for the end may open the room again
	close(r.done)
}
