package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// measureRestart ends a host with live rooms, and has the next one go on with them.
func measureRestart(ctx context.Context, p plan, t *table) (err error) {
	h, err := newLoadHost(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	n := int64(p.shared / 4)
	if err := h.wait(ctx, n); err != nil {
		return err
	}
	if err := h.Close(); err != nil {
		return err
	}
	w, err := h.wiring()
	if err != nil {
		return err
	}
	w.AllRooms = true
	before, began := h.turns.Load(), time.Now()
	next, err := w.OpenHost()
	if err != nil {
		return err
	}
	h.Host = next
	if err := h.Recover(ctx); err != nil {
		return err
	}
	if err := h.reach(ctx, before+n); err != nil {
		return fmt.Errorf("not all rooms go on: %w", err)
	}
	t.add("live rooms that go on after a restart, by seconds, until all agents are asked again", "", "%.0f of %d", float64(n)/time.Since(began).Seconds(), n)
	return nil
}
