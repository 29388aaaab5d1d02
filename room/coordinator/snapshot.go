package coordinator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A snapshot is the stored form of a state.
type snapshot struct {
	Format int
	Tail   log.Pos
	State  *room.State
	Idle   *idleMark `json:"Rested"` // set when the room was unloaded with no effect running
}

// snapshotFormat is the version of the form. A snapshot of another version is
// ignored.
const snapshotFormat = 10

// restore loads the newest snapshot if it matches the log.
func (r *Room) restore(ctx context.Context) {
	r.logTail = log.Pos{}
	s, ok := newest(ctx, r.cfg.Log, r.id)
	if !ok {
		return
	}
	r.state, r.logTail, r.snapAt = *s.State, s.Tail, s.State.Seq
	r.resumedIdle = s.Idle
	r.texts.first, r.texts.line = s.State.Seq+1, s.State.Bounds.LineChars
}

// A snapshotReader is the part of a log that a state is read from.
type snapshotReader interface {
	log.Reader
	Snapshot(ctx context.Context, room string) (log.Snapshot, error)
}

// newest returns the newest snapshot of a room if it matches the log.
func newest(ctx context.Context, l snapshotReader, id string) (s snapshot, ok bool) {
	snap, err := l.Snapshot(ctx, id)
	if err != nil {
		return s, false
	}
	if json.Unmarshal(snap.Data, &s) != nil || s.Format != snapshotFormat || s.State == nil || uint64(s.State.Seq) != snap.Seq {
		return s, false
	}
	if s.State.Policy.Lost { // an earlier version of moot took it before it knew that state
		return s, false
	}
	at, err := l.Read(ctx, id, log.At(int64(snap.Seq)-1), 1)
	if err != nil || len(at) != 1 || at[0].Hash != snap.Hash {
		return s, false
	}
	s.State.CompileNames()
	return s, true
}

// State returns the state of a room from its newest snapshot and the events after
// it. It does not lock the room. A policy state that the log lacks stays lost. It is
// [log.ErrNotFound] when there is no such room.
func State(ctx context.Context, l snapshotReader, id string) (*room.State, error) {
	state, at := &room.State{}, log.Pos{}
	if s, ok := newest(ctx, l, id); ok {
		state, at = s.State, s.Tail
	}
	for e, err := range log.Scan(ctx, l, id, at) {
		if err != nil {
			return state, err
		}
		state.Apply(e.Event)
	}
	return state, nil
}

// maybeSnapshot writes a snapshot when the log has grown by an eighth, so that
// the cost for each turn does not depend on the length of the room.
func (r *Room) maybeSnapshot(ctx context.Context) error {
	if r.state.Seq < r.snapAt+max(1024, r.snapAt/8) {
		return nil
	}
	return r.save(ctx)
}

// snapshotOnExit writes the last snapshot of a run. A live room with no turn
// running is marked as idle, so that it is not interrupted when it is opened
// again. So is one that was released.
func (r *Room) snapshotOnExit(ctx context.Context) error {
	leaving := r.leaving.Load()
	if r.state.Phase != room.PhaseLive || speaking(&r.state) && !leaving {
		return r.save(ctx)
	}
	r.resumedIdle = &idleMark{Clock: r.clock.now(), Wall: time.Now()}
	return r.writeSnapshot(ctx)
}

// speaking reports whether the end of the process would interrupt a turn.
func speaking(s *room.State) bool {
	return s.Turn != nil && slices.ContainsFunc(s.Effects(), func(e room.Effect) bool {
		_, speaks := e.(room.Speak)
		return speaks
	})
}

// atWork reports whether the end of the process would interrupt a turn, and the room
// would wait for a person then.
func (r *Room) atWork() (is bool) {
	r.read(func(s *room.State) {
		is = s.Phase == room.PhaseLive && s.Spec.OnRestart != room.RestartContinue && speaking(s)
	})
	return is
}

// save writes a snapshot of a room that is not idle. Short rooms have none.
func (r *Room) save(ctx context.Context) error {
	if r.state.Seq == r.snapAt || r.state.Seq < 64 {
		return nil
	}
	r.resumedIdle = nil
	return r.writeSnapshot(ctx)
}

// writeSnapshot stores the state. Only a failed log is an error: the room can
// go on without a snapshot, for example on a full disk.
func (r *Room) writeSnapshot(ctx context.Context) error {
	at, err := r.cfg.Log.Read(ctx, r.id, log.At(r.state.Seq-1), 1)
	if err != nil || len(at) != 1 {
		return nil
	}
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false) // the JSON of policies is kept byte for byte
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
