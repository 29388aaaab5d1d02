package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A roomLog is what commands need of the log.
type roomLog interface {
	log.Log
	Holder(room string) int
	Imported(ctx context.Context, room string) (bool, error)
	Restore(ctx context.Context, room string, entries []log.Entry) error
	Close() error
}

// readLog opens the log for reading.
func (a *app) readLog() (roomLog, error) {
	db, err := a.wiring().OpenLog(true)
	if err != nil {
		return nil, err // a nil *DB would be no nil roomLog
	}
	return db, nil
}

// foldRoom rebuilds a room's state from its log, taking no lock.
func foldRoom(ctx context.Context, l log.Reader, id string) (*room.State, error) {
	s := &room.State{}
	err := eachEvent(ctx, l, id, func(e room.Event) error {
		s.Apply(e)
		return nil
	})
	return s, err
}

// eachEvent calls f with every event of a room. A room that is not there is
// an error.
func eachEvent(ctx context.Context, l log.Reader, id string, f func(room.Event) error) error {
	for e, err := range log.Scan(ctx, l, id, log.Pos{}) {
		if err != nil {
			return unknownRoom(id, err)
		}
		if err := f(e.Event); err != nil {
			return err
		}
	}
	return nil
}

// unknownRoom says in the user's words that there is no such room.
func unknownRoom(id string, err error) error {
	if _, coded := errors.AsType[*problem.Error](err); coded || !errors.Is(err, log.ErrNotFound) {
		return err
	}
	return &problem.Error{Code: "ROOM-UNKNOWN", What: fmt.Sprintf("there is no room %q", id), Fix: "`moot ls` lists the rooms", Kind: log.ErrNotFound}
}
