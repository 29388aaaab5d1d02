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

// snapshot is the stored form of a state. One of another format is ignored.
type snapshot struct {
	Format int
	Tail   log.Pos
	State  *room.State
	Rested *idleMark // set when the room was left with nothing under way
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
