package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
)

// A RoomLog is what commands need of the log.
type RoomLog = moot.RoomLog

// ReadLog opens the log for reading.
func (a *App) ReadLog() (RoomLog, error) { return a.Wiring().OpenLog(true) }

// FoldRoom returns a room's state, from its snapshot and the log after it. It
// takes no lock.
func FoldRoom(ctx context.Context, l RoomLog, id string) (*room.State, error) {
	s, err := coordinator.State(ctx, l, id)
	return s, UnknownRoom(id, err)
}

// EachEvent calls f with every event of a room. A room that is not there is
// an error.
func EachEvent(ctx context.Context, l log.Reader, id string, f func(room.Event) error) error {
	for e, err := range log.Scan(ctx, l, id, log.Pos{}) {
		if err != nil {
			return UnknownRoom(id, err)
		}
		if err := f(e.Event); err != nil {
			return err
		}
	}
	return nil
}

// UnknownRoom says in the user's words that there is no such room.
func UnknownRoom(id string, err error) error {
	if _, coded := errors.AsType[*problem.Error](err); coded || !errors.Is(err, log.ErrNotFound) {
		return err
	}
	return &problem.Error{Code: "ROOM-UNKNOWN", What: fmt.Sprintf("there is no room %q", id), Fix: "`moot ls` lists the rooms", Kind: log.ErrNotFound}
}

// Secretless is an event without the room's secret, which bounds prompts and
// stays in the log.
func Secretless(e room.Event) room.Event {
	if b, ok := e.Body.(room.Opened); ok {
		b.Spec.Secret = ""
		e.Body = b
	}
	return e
}

// EventLine is an event as -o jsonl has it, "" for the other forms.
func (a *App) EventLine(e room.Event) string {
	if a.Format != FormatJSONL {
		return ""
	}
	line, err := room.MarshalEvent(Secretless(e))
	if err != nil {
		a.Log.Error("an event cannot be written", "seq", e.Seq, "error", err)
		return ""
	}
	return string(line) + "\n"
}

// Person returns the seat of the user: the one that as names, else the first
// person at the room's device. "" is the host.
func Person(v room.View, as string) string {
	if as == room.ActorHost {
		return ""
	}
	if as != "" {
		return as
	}
	for _, x := range v.Seats {
		if x.Kind == policy.Human && x.Device == "" {
			return x.ID
		}
	}
	return ""
}

// KeepLast is the last n of a list.
func KeepLast[T any](list []T, n int) []T {
	if len(list) <= max(n, 0) {
		return list
	}
	return list[len(list)-max(n, 0):]
}
