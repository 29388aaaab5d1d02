package moot

import (
	"context"
	"time"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
)

// CallAgents makes the calls of a seat that args, a JSON object, describes: the arguments
// of one call, or several under "calls". It waits for the results as long as the arguments
// say, and returns how each call stands then. The caller has authenticated the seat.
func (h *Host) CallAgents(ctx context.Context, id, seat string, args []byte) ([]calls.Answer, error) {
	list, err := calls.Parse(args)
	if err != nil {
		return nil, &problem.Error{Code: "ROOM-CALL-ARGS", What: err.Error(), Fix: "docs/agents.md lists the arguments"}
	}
	r, err := h.calling(ctx, id)
	if err != nil {
		return nil, err
	}
	return r.CallAgents(ctx, seat, list)
}

// GetCall waits at most for wait until a call of a seat has a result, and returns how it
// stands then.
func (h *Host) GetCall(ctx context.Context, id, seat, call string, wait time.Duration) (calls.Answer, error) {
	r, err := h.calling(ctx, id)
	if err != nil {
		return calls.Answer{}, err
	}
	return r.AwaitCall(ctx, seat, call, wait)
}

// ReplyCall gives the answer of a seat to the question of the agent that it called.
func (h *Host) ReplyCall(ctx context.Context, id, seat, call, text string) error {
	r, err := h.calling(ctx, id)
	if err != nil {
		return err
	}
	return r.ReplyCall(ctx, seat, call, text)
}

// CancelCall ends a call and all below it, for the seat that made it or for a person with
// control of the room.
func (h *Host) CancelCall(ctx context.Context, id, actor, call, reason string) error {
	_, err := h.Do(ctx, id, Command{Actor: actor, Do: room.CancelCall{Call: call, Reason: reason}})
	return err
}

// calling returns a room in which calls can be made, which it loads if need be.
func (h *Host) calling(ctx context.Context, id string) (*Room, error) {
	if r, ok := h.rooms.Running(id); ok {
		return r, nil
	}
	if err := h.checkLoadable(ctx, id); err != nil {
		return nil, err
	}
	return h.rooms.Get(ctx, id)
}

// Calls returns the open calls of a room and the newest ended ones, oldest first. It
// loads no room. Only people with control of the room may see them.
func (h *Host) Calls(ctx context.Context, id string) ([]calls.Call, error) {
	if r, ok := h.rooms.Running(id); ok {
		return r.Calls(), nil
	}
	s, err := h.fold(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.CallsAt(room.Internal), nil
}
