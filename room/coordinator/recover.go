package coordinator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// recover folds the room's log, from its snapshot on where there is a good
// one, into the state.
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

// fold applies an event of the log. A policy's state that the log holds only
// the digest of is computed again, from the input that the log gives.
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
	if r.hasRedactions { // it was asked with texts that are gone: it goes on from what is left of them
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

// snapshot is the stored form of a state. One of another format is ignored.
type snapshot struct {
	Format int
	Tail   log.Pos
	State  *room.State
	Rested *idleMark // set when the room was left with nothing under way
}

// idleMark says where the clock of a room stood when it was unloaded.
type idleMark struct {
	Clock time.Duration
	Wall  time.Time
}

const snapshotFormat = 3

// restore starts from the newest snapshot, if it fits the log.
func (r *Room) restore(ctx context.Context) {
	r.logTail = log.Pos{}
	snap, err := r.cfg.Log.Snapshot(ctx, r.id)
	if err != nil {
		return
	}
	var s snapshot
	if json.Unmarshal(snap.Data, &s) != nil || s.Format != snapshotFormat || s.State == nil || uint64(s.State.Seq) != snap.Seq {
		return
	}
	at, err := r.cfg.Log.Read(ctx, r.id, log.At(int64(snap.Seq)-1), 1)
	if err != nil || len(at) != 1 || at[0].Hash != snap.Hash {
		return
	}
	s.State.CompileNames()
	r.state, r.logTail, r.snapAt = *s.State, s.Tail, s.State.Seq
	r.resumedIdle = s.Rested
	r.texts.first, r.texts.line = s.State.Seq+1, s.State.Bounds.LineChars
}

// Snapshots are taken when the log has grown by an eighth, so that they cost
// the same a turn however long the room is.
func (r *Room) maybeSnapshot(ctx context.Context) error {
	if r.state.Seq < r.snapAt+max(1024, r.snapAt/8) {
		return nil
	}
	return r.save(ctx)
}

// clock is the clock of a room that wakes now. It has gone on while the
// room was unloaded, but no further than to what the room waits for: what the
// wall clock says must not end a room.
func (p *idleMark) clock(s *room.State) time.Duration {
	slept := max(0, time.Since(p.Wall))
	for _, e := range s.Effects() {
		if at := notBefore(e); at > p.Clock {
			return min(p.Clock+slept, at)
		}
	}
	return p.Clock
}

// snapshotOnExit writes the snapshot of a room that is left with nothing under
// way. Only such a room was not interrupted when it is opened again.
func (r *Room) snapshotOnExit(ctx context.Context) error {
	if r.state.Phase != room.PhaseLive || r.state.Turn != nil && slices.ContainsFunc(r.state.Effects(), speaks) {
		return r.save(ctx)
	}
	r.resumedIdle = &idleMark{r.clock.now(), time.Now()}
	return r.writeSnapshot(ctx)
}

// speaks tells effects that are interrupted by what ends them.
func speaks(e room.Effect) bool {
	_, ok := e.(room.Speak)
	return ok
}

// save writes a snapshot. It is disposable: a full disk does not end the room.
func (r *Room) save(ctx context.Context) error {
	if r.state.Seq == r.snapAt || r.state.Seq < 64 {
		return nil
	}
	r.resumedIdle = nil
	return r.writeSnapshot(ctx)
}

func (r *Room) writeSnapshot(ctx context.Context) error {
	at, err := r.cfg.Log.Read(ctx, r.id, log.At(r.state.Seq-1), 1)
	if err != nil || len(at) != 1 {
		return nil
	}
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false) // what policies gave is kept to the byte
	if err := enc.Encode(snapshot{snapshotFormat, r.logTail, &r.state, r.resumedIdle}); err != nil {
		return fmt.Errorf("taking a snapshot: %w", err)
	}
	r.snapAt = r.state.Seq
	err = r.cfg.Log.PutSnapshot(ctx, r.id, log.Snapshot{Seq: uint64(r.state.Seq), Hash: at[0].Hash, Data: data.Bytes()})
	if errors.Is(err, log.ErrFailed) {
		return fatalError{err}
	}
	return nil
}

// wake is when a room that is unloaded after these events next has something
// to do; never while it waits for a person. What an agent is only reported to
// have done, late or against the rules, leaves it at what it was.
func (r *Room) wake(now room.Now, events []room.Event) time.Time {
	switch b := events[len(events)-1].Body.(type) {
	case room.ReplyLate, room.Violation, room.SeatForgot:
		if len(events) == 1 {
			return r.lastWake
		}
	case room.Paused, room.Stopped, room.Completed, room.Errored, room.TurnDrafted, room.TurnEdited:
		return time.Time{}
	case room.RoundDeclined:
		return now.Wall.Add(b.Retry)
	case room.TurnGranted:
		if x, _ := r.state.Seat(b.Participant); x.TakenBy != "" {
			return time.Time{}
		}
	case room.Claimed:
		return r.due(now)
	case room.Resumed:
		return now.Wall
	case room.MessagePosted:
		if r.state.Phase == room.PhaseCompleted {
			return now.Wall // it lives again
		}
	}
	if r.state.Phase != room.PhaseLive && r.state.Phase != room.PhaseUnopened {
		return time.Time{}
	}
	return now.Wall
}

// due is when the first effect of the room is to start.
func (r *Room) due(now room.Now) time.Time {
	var at time.Time
	for _, e := range r.state.Effects() {
		start := now.Wall.Add(max(0, notBefore(e)-now.Clock))
		if at.IsZero() || start.Before(at) {
			at = start
		}
	}
	return at
}

// Fold returns the state of a room as the log has it, without taking the room
// over. Of cfg only Log and Policy are used.
func Fold(ctx context.Context, cfg Config, id string) (*room.State, error) {
	r := &Room{cfg: cfg, id: id, endpoints: map[string]*driver{}, texts: messageCache{log: cfg.Log, room: id}}
	if err := r.recover(ctx); err != nil {
		return nil, err
	}
	return &r.state, nil
}
