package moot

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/folkmoot/moot/room/log"
)

// This file is about a Host that runs all rooms of its data folder, next to other
// processes that run some of them.

// refusedFor is how long a room that failed does not wake by itself.
const refusedFor = 10 * time.Minute

// Running reports whether a room is loaded in this Host.
func (h *Host) Running(id string) bool {
	_, ok := h.rooms.Running(id)
	return ok
}

// Holder returns the id of the process that holds a room, and 0 if none does. The
// answer may be old when it comes.
func (h *Host) Holder(id string) int { return h.log.Holder(id) }

// Server returns the id of this process if the Host runs all rooms, and else 0.
func (h *Host) Server() int {
	if h.wiring.AllRooms {
		return os.Getpid()
	}
	return 0
}

// Recover opens the rooms that were live when their process ended. They go on or are
// paused, as their onRestart says. Rooms that fail are logged, and those that other
// processes hold are left to them. The owner of a Host with all rooms calls Recover
// when it begins, and when another process has ended, and again after an error.
func (h *Host) Recover(ctx context.Context) error {
	ids, err := h.due(ctx, endOfTime)
	if err != nil {
		return err
	}
	var opening sync.WaitGroup
	slots := make(chan struct{}, recoveries)
	busy := make([]error, len(ids)) // of rooms that can be opened when the log's servers answer
	for i, id := range ids {
		slots <- struct{}{}
		opening.Go(func() {
			defer func() { <-slots }()
			if _, err := h.rooms.Get(ctx, id); err != nil && ctx.Err() == nil {
				h.fail(id, err)
				if errors.Is(err, log.ErrUnknown) {
					busy[i] = err
				}
			}
		})
	}
	opening.Wait()
	return cmp.Or(context.Cause(ctx), errors.Join(busy...))
}

// recoveries is how many rooms Recover opens at the same time, as a log stores the events of
// several rooms at once.
const recoveries = 8

// endOfTime is after every wake time of a room.
var endOfTime = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

// due lists the rooms that have something to do at a time and may wake here.
func (h *Host) due(ctx context.Context, now time.Time) ([]string, error) {
	ids, err := h.log.Due(ctx, now)
	if h.node != nil {
		h.readDevices(ids)
	}
	return slices.DeleteFunc(ids, func(id string) bool {
		if h.Running(id) || h.node != nil && !h.node.Owns(id) || h.checkLoadable(ctx, id) != nil {
			return true // an imported room waits until the user trusts it
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		return time.Now().Before(h.refused[id])
	}), err
}

// Rest brings the rooms to rest before Stop: those in which an agent is at work are
// paused with that reason. A room with onRestart: continue is not, because it goes on
// when it is opened again.
func (h *Host) Rest(ctx context.Context, reason string) error { return h.rooms.Rest(ctx, reason) }

// trust lets an imported room be loaded again for as long as the Host is open.
func (h *Host) trust(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.trusted == nil {
		h.trusted = map[string]bool{}
	}
	h.trusted[id] = true
}
