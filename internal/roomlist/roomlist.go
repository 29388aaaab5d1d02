// Package roomlist lists the rooms of a log.
package roomlist

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// Phases that only lists have: of a room that was live when its host ended, and
// of one that cannot be run because events of its log are missing or changed.
const (
	Interrupted = "interrupted"
	Damaged     = "damaged"
)

// A Log is a log whose rooms are locked by the processes that run them.
type Log interface {
	log.Reader
	Holder(room string) int // process id; 0 for none
}

// Of lists the rooms of l, the newest last. Live rooms that no process holds are run
// by the process server, which has unloaded them, unless it is 0. node returns the address
// of the node of a room, "" for none, and may be nil. The error joins what is wrong with
// single rooms, which are listed all the same.
func Of(ctx context.Context, l Log, server int, node func(ctx context.Context, room string) string) ([]api.RoomBrief, error) {
	briefs := []api.RoomBrief{}
	infos, damaged := l.Rooms(ctx)
	for _, info := range infos {
		b, err := briefOf(ctx, l, info, server, node)
		if err != nil {
			b.Phase, b.Ending = Damaged, api.ProblemOf(0, err).Detail
		}
		if err != nil && info.Damage == nil {
			damaged = errors.Join(damaged, err)
		}
		briefs = append(briefs, api.RoomBrief(b))
	}
	slices.SortStableFunc(briefs, func(x, y api.RoomBrief) int { return x.Updated.Compare(y.Updated) })
	return briefs, damaged
}

// A brief is an [api.RoomBrief] that is being made.
type brief api.RoomBrief

// briefOf looks at both ends of a room's log, not at the whole.
func briefOf(ctx context.Context, l Log, info log.Info, server int, node func(context.Context, string) string) (brief, error) {
	b := brief{Room: info.Room, Events: info.Last, Bytes: info.Bytes, Updated: info.Updated.UTC(), Process: l.Holder(info.Room)}
	first, err := l.Read(ctx, info.Room, log.Pos{}, 1)
	for _, e := range first {
		if o, ok := e.Event.Body.(room.Opened); ok {
			b.Name, b.Objective = o.Spec.Name, o.Spec.Objective
		}
	}
	if err = cmp.Or(info.Damage, err); err != nil {
		return b, err
	}
	if err := b.look(ctx, l, info.Last); err != nil {
		return b, err
	}
	if live := b.Phase == string(room.PhaseLive); node != nil && (live || b.Phase == string(room.PhasePaused)) {
		b.Node = node(ctx, info.Room)
	}
	if b.Phase == string(room.PhaseLive) && b.Process == 0 && b.Node == "" {
		if b.Process = server; server == 0 {
			b.Phase = Interrupted
		}
	}
	return b, nil
}

// lookPage is how many events are read at a time, from the end.
const lookPage = 64

// look goes back through the events until it knows the room's phase and how
// many turns it has had.
func (b *brief) look(ctx context.Context, l Log, last uint64) error {
	person := false // a person has posted a message since
	for end := int64(last); end > 0 && (b.Phase == "" || b.Turns == 0); {
		start := max(0, end-lookPage)
		entries, err := l.Read(ctx, b.Room, log.At(start), int(end-start))
		if err != nil {
			return err
		}
		for _, e := range slices.Backward(entries) {
			if m, ok := e.Event.Body.(room.MessagePosted); ok {
				person = person || m.Message.Source == "user"
			}
			b.note(e.Event, person)
		}
		end = start
	}
	return nil
}

// note takes what an event says, unless a later one has said it.
func (b *brief) note(e room.Event, person bool) {
	phase, why := room.Phase(""), ""
	switch body := e.Body.(type) {
	case room.TurnGranted:
		phase = room.PhaseLive
		if b.Turns == 0 {
			b.Turns = body.Turn
		}
	case room.Opened, room.Resumed, room.RoundDeclined:
		phase = room.PhaseLive
	case room.Paused:
		phase, why = room.PhasePaused, body.Reason
	case room.Stopped:
		phase, why = room.PhaseStopped, body.Reason
	case room.Completed:
		phase, why = room.PhaseCompleted, body.Reason
		if body.Cause == room.CauseSettled && person {
			phase, why = room.PhaseLive, ""
		}
	case room.Errored:
		phase, why = room.PhaseError, body.Reason
	}
	if b.Phase == "" && phase != "" {
		b.Phase, b.Ending = string(phase), why
	}
}
