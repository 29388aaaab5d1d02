package coordinator

import (
	"context"
	"errors"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// This file is about rooms that processes with one log hand over to one another.

// Release unloads a room so that another process can open it and go on with it at once. It
// waits until no turn is in flight, except one whose request goes on in the other process. If ctx
// ends before, the turn is interrupted, and the room goes on all the same. It returns the
// options with which the room runs, or ErrClosed if the room is not loaded.
func (h *Host) Release(ctx context.Context, id string) (RunOptions, error) {
	r, ok := h.Running(id)
	if !ok {
		return RunOptions{}, ErrClosed
	}
	r.leaving.Store(true)
	select {
	case r.leave <- struct{}{}:
	default:
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		h.unload(id)
	}
	h.forget(r)
	o := r.cfg.RunOptions
	return RunOptions{Headless: o.Headless, Unattended: o.Unattended, Foreground: o.Foreground}, nil
}

// Movable lists the rooms that are loaded and that another process could run. Rooms of
// calls go with the room of their caller.
func (h *Host) Movable() []*Room {
	h.start()
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []*Room
	for _, l := range h.rooms {
		if l.room != nil && l.room.cfg.host == h && !l.room.called() {
			all = append(all, l.room)
		}
	}
	return all
}

// called reports whether the room is that of a call.
func (r *Room) called() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Spec.Call != nil
}

// Drop unloads a room that another process may have taken.
func (h *Host) Drop(id string) { h.unload(id) }

// Leaving reports whether the room was released, or is about to be.
func (r *Room) Leaving() bool { return r.leaving.Load() }

// mayLeave reports whether Run ends now because the room was released.
func (r *Room) mayLeave() bool { return r.leaving.Load() && r.state.MayMove() }

// cause is why the effects of a room that ends are cancelled.
func (r *Room) cause() error {
	if r.leaving.Load() {
		return endpoint.ErrMoved
	}
	return nil
}

// claim returns the command by which this process takes the room over.
func (r *Room) claim() room.Claim {
	return room.Claim{
		Owner: r.cfg.Owner, Restart: r.state.Phase == room.PhaseLive && r.resumedIdle == nil,
		Moved: r.resumedIdle != nil && r.resumedIdle.Moved,
	}
}

// moved returns the error of a command that another process can carry out instead of this
// one, and nil for other errors. Nothing was stored.
func (h *Host) moved(r *Room, id string, err error) error {
	switch {
	case !h.Config.Shared:
		return nil
	case errors.Is(err, log.ErrConflict), errors.Is(err, log.ErrLocked), r != nil && r.Leaving() && errors.Is(err, ErrClosed):
		return &problem.Error{Code: "ROOM-MOVED", What: "another process runs the room now", Where: "room " + id, Fix: "send the request again; a command with the same id is carried out once", Kind: ErrMoved, Err: err}
	}
	return nil
}
