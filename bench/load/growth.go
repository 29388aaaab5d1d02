package main

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/room"
)

// Rooms of the measurement of growth, and the turns after which each ends and another one
// takes its place.
const (
	soakRooms = 50
	soakTurns = 100
)

// measureGrowth has rooms begin, take turns, be watched and end, and fits a line to the
// heap after the first sixth of the time, which is minute 5 of 30.
func measureGrowth(ctx context.Context, p plan, t *table) (err error) {
	h, err := newLoadHost(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	h.think.Store(int64(20 * time.Millisecond))
	running, stop := context.WithCancel(ctx)
	var rooms sync.WaitGroup
	failed := make(chan error, soakRooms)
	for range soakRooms {
		rooms.Go(func() {
			for running.Err() == nil {
				if err := h.one(running); err != nil && running.Err() == nil {
					failed <- err
					return
				}
			}
		})
	}
	samples, err := sample(ctx, p, failed)
	stop()
	rooms.Wait()
	if err != nil {
		return err
	}
	slope, wide := line(samples)
	t.add("growth of the heap and stacks after minute "+(p.soak/6).String()+" of "+p.soak.String()+", with its 95 % interval", "not above 0", "%+.1f +/- %.1f KiB/min at %.1f MiB, %d turns", slope/1024, wide/1024, samples[len(samples)-1].bytes/(1<<20), h.turns.Load())
	return nil
}

// one runs a room until it has ended, with a watcher.
func (h *loadHost) one(ctx context.Context) error {
	id, err := h.open(ctx, "works", soakTurns, moot.Options{Foreground: true, Headless: true})
	if err != nil {
		return err
	}
	h.watch(ctx, id, 0, false, false)
	return nil
}

// stop ends a room.
func (h *loadHost) stop(ctx context.Context, id string) error {
	_, err := h.Do(ctx, id, moot.Command{Actor: room.ActorHost, Do: room.Stop{}})
	return err
}

// A point is the memory at a time.
type point struct{ minutes, bytes float64 }

// sample measures the memory 200 times after the first sixth of the time. It writes a
// profile of the heap with the first measurement, and one with the last.
func sample(ctx context.Context, p plan, failed <-chan error) (all []point, err error) {
	began, span := time.Now(), p.soak
	tick := time.NewTicker(span * 5 / 6 / 200)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case err := <-failed:
			return nil, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		switch at := time.Since(began); {
		case at > span && len(all) > 2:
			return all, writeHeap(p.heap)
		case at > span/6:
			heap, _ := memory()
			all = append(all, point{at.Minutes(), float64(heap)})
			if len(all) == 1 && p.heap != "" {
				if err := writeHeap(p.heap + ".first"); err != nil {
					return nil, err
				}
			}
		}
	}
}

// line fits a line to points by least squares, and returns its slope with half the width of
// the 95 % interval.
func line(all []point) (slope, wide float64) {
	var x, y, xx, xy float64
	n := float64(len(all))
	for _, p := range all {
		x, y = x+p.minutes/n, y+p.bytes/n
	}
	for _, p := range all {
		xx, xy = xx+(p.minutes-x)*(p.minutes-x), xy+(p.minutes-x)*(p.bytes-y)
	}
	slope = xy / xx
	var rest float64
	for _, p := range all {
		d := p.bytes - y - slope*(p.minutes-x)
		rest += d * d
	}
	return slope, 1.96 * math.Sqrt(rest/(n-2)/xx)
}
