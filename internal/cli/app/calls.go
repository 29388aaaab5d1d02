package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/log"
)

// A CallReader returns the calls of agents by agents in one room, oldest first.
type CallReader func(ctx context.Context, id string) ([]calls.Call, error)

// CallReader returns a reader of the log, or of the server that --server names, for a
// room and those of its calls. The caller calls done.
func (a *App) CallReader(id string) (read CallReader, done func(), err error) {
	if a.Remote() {
		c, err := a.Client(id)
		if err != nil {
			return nil, nil, err
		}
		return remoteCalls(c, id), c.Close, nil
	}
	db, err := a.ReadLog()
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, id string) ([]calls.Call, error) { return callsOf(ctx, db, id) }, func() { _ = db.Close() }, nil
}

// remoteCalls reads calls at a server. A token of one room may not read the rooms of its
// calls: then those below are left out.
func remoteCalls(c *client.Client, top string) CallReader {
	return func(ctx context.Context, id string) ([]calls.Call, error) {
		list, err := c.Calls(ctx, id)
		if p, ok := errors.AsType[*problem.Error](err); ok && id != top && (p.Code == "API-FORBIDDEN" || p.Code == "ROOM-UNKNOWN") {
			return nil, nil
		}
		return list, err
	}
}

// callsOf returns all calls of the log of a room.
func callsOf(ctx context.Context, db log.Reader, id string) ([]calls.Call, error) {
	var list []calls.Call
	find := func(call string) *calls.Call {
		i := slices.IndexFunc(list, func(c calls.Call) bool { return c.ID == call })
		if i < 0 {
			return &calls.Call{} // a damaged log
		}
		return &list[i]
	}
	err := EachEvent(ctx, db, id, func(e room.Event) error {
		switch b := e.Body.(type) {
		case room.CallStarted:
			list = append(list, b.Call.Public())
		case room.CallChanged:
			c := find(b.Call)
			c.State, c.Asked, c.Text, c.Canceling, c.WaitUntil = b.State, b.Asked, b.Text, b.Canceling, b.WaitUntil
		case room.CallEnded:
			c := find(b.Call)
			c.State, c.Asked, c.Text, c.WaitUntil, c.Posted, c.Ended = b.State, "", "", 0, b.Posted, e.Seq
			c.Result = &b.Result
		}
		return nil
	})
	return list, err
}

// maxCallRead bounds how long a terminal waits for the calls below a call.
const maxCallRead = 5 * time.Second

// callsBelow returns the calls of a child room for a terminal, as far as they can be
// read.
func (a *App) callsBelow(id string) []calls.Call {
	ctx, cancel := context.WithTimeout(context.Background(), maxCallRead)
	defer cancel()
	read, done, err := a.CallReader(id)
	if err != nil {
		return nil
	}
	defer done()
	list, _ := read(ctx, id) // the room of a call may be removed
	return list
}
