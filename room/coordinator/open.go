package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// Open makes and locks a new room. Its first events are durable when Open
// returns. The caller runs it with [Room.Run], which unlocks it.
func Open(ctx context.Context, cfg Config, spec room.Spec, participants []room.Participant) (*Room, error) {
	r, err := newRoom(ctx, cfg, spec.Room)
	if err != nil {
		return nil, err
	}
	if r.logTail.Seq != 0 {
		r.unlock()
		return nil, existsError(spec.Room)
	}
	for _, do := range []room.Act{room.Open{Spec: spec, Participants: participants}, room.Claim{Owner: cfg.Owner}} {
		if err := r.decideAndCommit(ctx, room.ActorHost, do); err != nil {
			r.unlock()
			return nil, err
		}
	}
	if err := r.runResumeActs(ctx); err != nil {
		r.unlock()
		return nil, err
	}
	r.holdChild()
	return r, nil
}

// holdChild closes the gate of a child room until its caller's room follows it, so that
// it sends nothing while that room is paused. A person may let it run alone.
func (r *Room) holdChild() {
	if r.state.Spec.Call != nil && r.state.Phase == room.PhaseLive && r.cfg.ResumeAs == "" {
		r.gate.hold()
	}
}

// Reopen locks a room of the log and takes it over, after a crash or a clean
// end. A turn that was in flight is recorded as interrupted.
func Reopen(ctx context.Context, cfg Config, id string) (*Room, error) {
	r, err := newRoom(ctx, cfg, id)
	if err != nil {
		return nil, err
	}
	if err := r.reopen(ctx); err != nil {
		r.unlock()
		return nil, err
	}
	r.holdChild()
	return r, nil
}

// reopen recovers the state, finishes redactions, claims the room and resumes
// it if cfg admits the room and says so.
func (r *Room) reopen(ctx context.Context) error {
	if err := r.recover(ctx); err != nil && !errors.Is(err, log.ErrNotFound) {
		return err
	}
	if r.cfg.Admit != nil {
		if err := r.cfg.Admit(&r.state); err != nil {
			return err
		}
	}
	if err := errors.Join(r.finishRedactions(ctx), r.releaseReserved(ctx)); err != nil {
		return err
	}
	if r.state.Phase == room.PhaseUnopened {
		return &problem.Error{Code: "ROOM-UNKNOWN", What: "no room " + r.id, Fix: "`moot ls` lists the rooms", Kind: log.ErrNotFound}
	}
	if err := r.decideAndCommit(ctx, room.ActorHost, r.claim()); err != nil {
		return err
	}
	if err := r.runResumeActs(ctx); err != nil {
		return err
	}
	if r.cfg.ResumeAs == "" || !resumable(r.state.Phase, r.state.Ending) {
		return nil
	}
	return r.decideAndCommit(ctx, r.cfg.ResumeAs, room.Resume{})
}

// resumable reports whether a room that a person opens is resumed.
func resumable(p room.Phase, e room.Ending) bool {
	switch p {
	case room.PhaseLive, room.PhaseStopped:
		return false
	case room.PhaseCompleted:
		return e.Degraded
	}
	return true
}

// resume executes the commands of [Reopen] in a room that runs already.
func (r *Room) resume(ctx context.Context, o RunOptions) error {
	for _, do := range o.ResumeWith {
		if _, err := r.Do(ctx, room.Command{Actor: o.ResumeAs, Do: do}); err != nil {
			return err
		}
	}
	if v := r.View(); !resumable(v.Phase, v.Ending) {
		return nil
	}
	_, err := r.Do(ctx, room.Command{Actor: o.ResumeAs, Do: room.Resume{}})
	return err
}

// runResumeActs executes the commands that a person gives before the room runs.
func (r *Room) runResumeActs(ctx context.Context) error {
	if r.cfg.ResumeAs == "" {
		return nil
	}
	for _, do := range r.cfg.ResumeWith {
		if err := r.decideAndCommit(ctx, r.cfg.ResumeAs, do); err != nil {
			return err
		}
	}
	return nil
}

// newRoom locks a room for this process.
func newRoom(ctx context.Context, cfg Config, id string) (*Room, error) {
	unlock, err := cfg.Log.Lock(ctx, id)
	if err != nil {
		return nil, err
	}
	r := &Room{
		cfg: cfg, id: id, unlock: unlock,
		people: make(chan request), abandoned: make(chan request, 16), work: make(chan request), leave: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
		endpoints: map[string]*driver{},
	}
	r.nest.host = cfg.host
	r.effects.runs, r.effects.quit = make(chan func()), r.quit
	r.texts = messageCache{log: cfg.Log, room: id}
	r.hub.log, r.hub.room, r.hub.worker = cfg.Log, id, r.effects.Go
	entries, err := cfg.Log.Read(ctx, id, log.Pos{}, 1)
	if err != nil && !errors.Is(err, log.ErrNotFound) {
		unlock()
		return nil, err
	}
	if len(entries) > 0 {
		r.logTail = entries[0].Pos
	}
	return r, nil
}

// decideAndCommit executes a command while the loop is not running.
func (r *Room) decideAndCommit(ctx context.Context, actor string, do room.Act) error {
	now := r.now()
	c := room.Command{ID: "c_" + random(), Actor: actor, Do: do}
	events, err := r.state.Decide(c, now)
	if err != nil || len(events) == 0 {
		return err
	}
	err = r.commit(ctx, change{c, events, now})
	if f, ok := err.(fatalError); ok {
		return f.error // only Run needs to know that it is fatal
	}
	return err
}

// recover folds the log into the state, beginning at the snapshot if it is
// valid.
func (r *Room) recover(ctx context.Context) error {
	r.restore(ctx)
	for e, err := range log.Scan(ctx, r.cfg.Log, r.id, r.logTail) {
		if errors.Is(err, log.ErrNotFound) {
			break
		}
		if err != nil {
			return err
		}
		r.hasRedactions = r.hasRedactions || e.Redacted
		if err := r.fold(ctx, e.Event); err != nil {
			return err
		}
		if b, ok := e.Event.Body.(room.Redacted); ok {
			r.redactions = append(r.redactions, b.Target)
		}
		r.logTail = e.Pos
	}
	r.updateControllers()
	r.clock = clock{base: r.state.Clock}
	if r.resumedIdle != nil && r.snapAt == r.state.Seq {
		r.clock.base = r.resumedIdle.clock(&r.state)
	} else {
		r.resumedIdle = nil
	}
	r.hub.setTail(r.state.Seq)
	return nil
}

// fold applies an event of the log. Where the log has only the digest of the
// policy's state, fold asks the policy again with the recorded input.
func (r *Room) fold(ctx context.Context, e room.Event) error {
	rec := room.RecordOf(e)
	if rec == nil || rec.State == r.state.Policy.Digest || rec.StateJSON != nil || rec.State == "" || rec.Code != "" {
		r.apply(e)
		return nil
	}
	in, err := r.state.RecordedInput(rec, r.texts.text)
	if err != nil {
		return err
	}
	p, err := r.currentPolicy(ctx, r.state.Policy.Ref)
	if err != nil {
		return fmt.Errorf("recomputing the policy's state at event %d: %w", e.Seq, err)
	}
	d, _, err := propose(ctx, p, in)
	state := room.NextPolicyState(in.State, d.State)
	if r.hasRedactions { // the input has lost texts, so the state may differ from the recorded one
		r.apply(e)
		r.state.SetPolicyState(state)
		return nil
	}
	if got := room.PolicyStateDigest(state); err == nil && got != rec.State {
		err = fmt.Errorf("the policy returned the state %s, recorded is %s", got, rec.State)
	}
	if err != nil {
		return &problem.Error{
			Code: "ROOM-POLICY-STATE", What: fmt.Sprintf("decision %d cannot be computed again", rec.Decision), Err: err,
			Where: fmt.Sprintf("room %s, event %d", r.id, e.Seq), Fix: "put the module with digest " + rec.Digest + " back",
		}
	}
	r.apply(e)
	r.state.SetPolicyState(state)
	return nil
}

// Fold returns the state to which the log of a room folds. It does not lock the
// room, and uses only Log and Policy of cfg.
func Fold(ctx context.Context, cfg Config, id string) (*room.State, error) {
	r := &Room{cfg: cfg, id: id, endpoints: map[string]*driver{}, texts: messageCache{log: cfg.Log, room: id}}
	if err := r.recover(ctx); err != nil {
		return nil, err
	}
	return &r.state, nil
}
