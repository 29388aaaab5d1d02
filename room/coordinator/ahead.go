package coordinator

import (
	"context"
	"slices"
	"time"

	"github.com/folkmoot/moot/room"
)

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

// patience is how long a reader waits for the end of an append before it reads the log.
const patience = 200 * time.Millisecond

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
		case <-time.After(patience):
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
