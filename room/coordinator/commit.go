package coordinator

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A change is a command with the events that the state has decided on.
type change struct {
	cmd    room.Command
	events []room.Event
	now    room.Now
}

// A batch is what one append stores: one change, or the end of a turn with the decision
// after it.
type batch struct {
	changes []change
	applied int          // how many of the changes the state has already
	events  []room.Event // of all changes
	audit   []AuditEntry // about the events
	wake    time.Time
}

// commit appends the events of a change to the log, applies them and tells the watchers,
// in this order. With the end of a turn it may store the decision after it.
func (r *Room) commit(ctx context.Context, c change) error {
	b, floor := &batch{}, r.state.Turn
	took, err := r.store(ctx, b, c)
	if err != nil {
		r.fallBack(ctx)
		return fatalError{err}
	}
	r.observe(b.events, floor, took)
	r.requests.update(b.events)
	r.tellWaiting()
	r.holdForCalls()
	r.hub.publish(b.events)
	return r.afterCommit(ctx, b.events)
}

// store makes the batch that begins with a change durable, and applies it. It returns how long
// the append took.
func (r *Room) store(ctx context.Context, b *batch, c change) (took time.Duration, err error) {
	if err := r.add(ctx, b, c); err != nil {
		return 0, err
	}
	if err := r.decideAhead(ctx, b); err != nil {
		return 0, err
	}
	began := time.Now()
	last, err := r.append(ctx, r.logTail, b.wake, b.events)
	if err != nil {
		return 0, err
	}
	took = time.Since(began)
	r.logTail, r.lastWake = last, b.wake
	for _, a := range b.audit {
		if err := r.cfg.Audit(a); err != nil { // nothing happens without an entry
			return 0, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.applyChanges(b)
	r.endAhead()
	return took, nil
}

// add adds a change on which the state has decided just now, and settles what it charges.
func (r *Room) add(ctx context.Context, b *batch, c change) error {
	b.wake = r.wake(c.now, c.events)
	b.audit = r.appendAudit(b.audit, c.events)
	b.changes, b.events = append(b.changes, c), append(b.events, c.events...)
	return r.settle(ctx, c.events)
}

// applyChanges applies the changes of a batch that the state does not have yet.
func (r *Room) applyChanges(b *batch) {
	for _, c := range b.changes[b.applied:] {
		for _, e := range c.events {
			r.apply(e)
		}
		if d, ok := c.cmd.Do.(room.Decided); ok && r.state.Policy.Lost {
			r.state.SetPolicyState(d.Record.StateJSON) // the log keeps only its digest
		}
	}
	b.applied = len(b.changes)
}

// append appends events. It tries again until the outcome is known or the log has
// failed: an append is never abandoned, but for one that another process keeps from
// starting.
func (r *Room) append(ctx context.Context, after log.Pos, wake time.Time, events []room.Event) (last log.Pos, err error) {
	return last, r.persist(ctx, func(ctx context.Context) (err error) {
		last, _, err = r.cfg.Log.Append(ctx, r.id, after, wake, events...)
		return err
	})
}

// The pauses between attempts to write: the first, and the longest. Each is twice as long
// as the one before.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = time.Second
)

// persist calls write until its outcome is known or the log has failed.
func (r *Room) persist(ctx context.Context, write func(context.Context) error) error {
	told := false
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := write(context.WithoutCancel(ctx))
		if !errors.Is(err, log.ErrUnknown) || errors.Is(err, log.ErrFailed) {
			return err
		}
		var interrupt <-chan struct{} // an append that may have been stored is not abandoned
		if errors.Is(err, log.ErrBusy) {
			if interrupt = r.cfg.Interrupt; !told && r.cfg.Busy != nil {
				r.cfg.Busy(r.id, err)
			}
			told = true
		}
		select {
		case <-interrupt:
			return err
		case <-time.After(pause):
		}
	}
}

// apply folds e into the state and the caches that belong to it.
func (r *Room) apply(e room.Event) {
	r.state.Apply(e)
	switch b := e.Body.(type) {
	case room.Opened:
		r.texts.line = r.state.Bounds.LineChars
	case room.MessagePosted:
		r.texts.add(e.Seq, b.Message)
	case room.TurnGranted:
		r.granted.seq = e.Seq
	case room.Joined:
		r.updateControllers()
	case room.SeatChanged:
		r.closeEndpoint(b.Participant)
		r.updateControllers()
	}
}

// afterCommit redacts, starts or stops the clock, and takes a snapshot if one
// is due.
func (r *Room) afterCommit(ctx context.Context, events []room.Event) error {
	var redacted []int64
	for _, e := range events {
		if b, ok := e.Body.(room.Redacted); ok {
			redacted = append(redacted, b.Target)
		}
	}
	if err := r.redact(ctx, redacted...); err != nil {
		return fatalError{err}
	}
	r.clock.run(r.state.Phase == room.PhaseLive)
	return r.maybeSnapshot(ctx)
}

// decideAhead adds to the end of a turn the decision about the next one, so that both are
// stored with one append, if the policy is quick and nothing else is to be done first.
// Until then the state is ahead of the log.
func (r *Room) decideAhead(ctx context.Context, b *batch) error {
	if !r.goesAhead(b.changes[0]) {
		return nil
	}
	r.mu.Lock()
	r.ahead = make(chan struct{})
	r.applyChanges(b)
	r.mu.Unlock()
	if c, ok := r.nextDecision(ctx); ok {
		return r.add(ctx, b, c)
	}
	return nil
}

// goesAhead reports whether a change ends a turn, and the loop may ask the policy before
// it stores that.
func (r *Room) goesAhead(c change) bool {
	if _, replied := c.cmd.Do.(room.Replied); !replied {
		return false
	}
	switch c.events[len(c.events)-1].Body.(type) {
	case room.MessagePosted, room.TurnPassed:
	default:
		return false
	}
	return r.isQuick() && r.hasPolicy(r.state.Policy.Ref) && !r.hasBudgets() && !r.leaving.Load()
}

// nextDecision asks the policy about the next turn if that is due, and returns what follows.
// ok is false if nothing does, or a command of a person or a closing gate comes first.
func (r *Room) nextDecision(ctx context.Context) (c change, ok bool) {
	effects := r.state.Effects()
	i := slices.IndexFunc(effects, func(e room.Effect) bool { _, asks := e.(room.Ask); return asks })
	if i < 0 || notBefore(effects[i]) > r.clock.now() {
		return c, false
	}
	key := effects[i].Key()
	ectx, _, ok := r.gate.start(ctx, key)
	if !ok {
		return c, false
	}
	defer r.gate.end(key)
	run, failed := r.ask(ectx)
	if failed != nil {
		return c, false
	}
	c.cmd = run()
	if ectx.Err() != nil || r.personWaits() {
		return c, false
	}
	c.cmd, c.now = r.prepare(ctx, c.cmd), r.now()
	if _, broken := c.cmd.Do.(room.Broken); broken {
		return c, false
	}
	events, err := r.state.Decide(c.cmd, c.now)
	c.events = events
	return c, err == nil && len(events) > 0
}

// readersWait is how long a reader waits for the end of an append before it reads the log.
const readersWait = 200 * time.Millisecond

// read calls f with the state to which the stored events fold. f must not keep what changes
// of it. While the state is ahead of the log, read waits, and reads the log itself when the
// disk is slow.
func (r *Room) read(f func(*room.State)) {
	for {
		r.mu.Lock()
		ahead := r.ahead
		if ahead == nil {
			defer r.mu.Unlock()
			f(&r.state)
			return
		}
		r.mu.Unlock()
		select {
		case <-ahead:
			continue
		case <-time.After(readersWait):
		}
		if s, err := State(context.Background(), r.cfg.Log, r.id); err == nil {
			f(s)
			return
		}
		<-ahead
	}
}

// fallBack puts a state that is ahead of a log that has failed back to what is stored.
// If that cannot be read, only the phase says so.
func (r *Room) fallBack(ctx context.Context) {
	if r.ahead == nil {
		return
	}
	s, err := State(context.WithoutCancel(ctx), r.cfg.Log, r.id)
	if err != nil {
		s = &room.State{Spec: r.state.Spec, Phase: room.PhaseError}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = *s
	r.endAhead()
}

// endAhead tells readers that the state holds what is stored. The caller holds mu.
func (r *Room) endAhead() {
	if r.ahead != nil {
		close(r.ahead)
		r.ahead = nil
	}
}
