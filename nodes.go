package moot

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
)

// This file is about a Host that shares its log with others, to which it hands over rooms.
// It serves the moot command, and is no part of the stable interface.

// join makes the Host a node, if its wiring says so.
func (h *Host) join() (err error) {
	if h.wiring.Node == nil {
		return nil
	}
	members, ok := h.log.(log.Members)
	if !ok {
		return &problem.Error{
			Code: "NODE-LOG", What: "nodes share a log, and the rooms are in files of the data folder", Where: h.wiring.Settings.Data,
			Fix: "keep the rooms on servers: set log.url, or --log postgres://host/db; or leave --node out, and one process runs all rooms",
		}
	}
	h.owns, err = h.wiring.Node(members)
	return err
}

// A movedRoom says how a room runs that another node goes on with.
type movedRoom struct {
	Headless   bool `json:"headless,omitempty"`
	Unattended bool `json:"unattended,omitempty"`
	Foreground bool `json:"foreground,omitempty"`
	Trusted    bool `json:"trusted,omitempty"`
}

// Movable lists the rooms that are loaded and that another node could run.
func (h *Host) Movable() []string {
	var ids []string
	for _, r := range h.rooms.Movable() {
		ids = append(ids, r.ID())
	}
	return ids
}

// Release unloads a room so that another node goes on with it. It waits for the turn that is
// in flight, until ctx ends. It returns what Adopt is given there.
func (h *Host) Release(ctx context.Context, id string) ([]byte, error) {
	o, err := h.rooms.Release(ctx, id)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	trusted := h.trusted[id]
	h.mu.Unlock()
	return json.Marshal(movedRoom{Headless: o.Headless, Unattended: o.Unattended, Foreground: o.Foreground, Trusted: trusted})
}

// Adopt opens a room that another node has released, and goes on with it.
func (h *Host) Adopt(ctx context.Context, id string, options []byte) error {
	var m movedRoom
	if err := json.Unmarshal(options, &m); err != nil {
		return fmt.Errorf("reading how room %s runs: %w", id, err)
	}
	if m.Trusted {
		h.trust(id)
	}
	if err := h.checkLoadable(ctx, id); err != nil {
		return err
	}
	_, err := h.rooms.Open(ctx, id, coordinator.RunOptions{Headless: m.Headless, Unattended: m.Unattended, Foreground: m.Foreground})
	return err
}

// DropLost unloads the rooms that another process has taken. The caller calls it when this process may
// have lost its lease.
func (h *Host) DropLost(ctx context.Context) {
	members, ok := h.log.(log.Members)
	if !ok {
		return
	}
	for _, r := range h.rooms.Movable() {
		if by, err := members.HeldBy(ctx, r.ID()); err == nil && by != members.Self() {
			h.rooms.Drop(r.ID())
		}
	}
}

// owner names this process in logs.
func owner() string {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	return fmt.Sprintf("%s:%d", name, os.Getpid())
}
