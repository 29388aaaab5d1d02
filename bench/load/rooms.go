package main

import (
	"context"
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
)

const forever = 1_000_000 // turns

// measureRooms opens live rooms, each with a turn in flight, and then has some of them
// take turns while others watch them.
func measureRooms(ctx context.Context, p plan, t *table) (err error) {
	h, err := newLoadHost(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	n := int64(p.rooms - p.active)
	first := n / 3 // they carry what all rooms share
	if err := h.wait(ctx, first); err != nil {
		return err
	}
	h.observe(ctx, &observation{}, 8*time.Second) // until the policy is compiled
	heap, resident := memory()
	n -= first
	began := time.Now()
	if err := h.wait(ctx, n); err != nil {
		return err
	}
	took := time.Since(began)
	heap2, resident2 := memory()
	t.add("memory of a live room with a turn in flight: heap and stacks; resident", "<= 64 KiB", "%.1f KiB; %.1f KiB", float64(heap2-heap)/float64(n)/1024, float64(resident2-resident)/float64(n)/1024)
	t.add("live rooms opened a second", "", "%.0f", float64(n)/took.Seconds())
	if err := writeHeap(p.heap); err != nil {
		return err
	}
	return h.activity(ctx, p, t)
}

// wait opens n rooms whose agents do not answer, and waits until they are asked.
func (h *loadHost) wait(ctx context.Context, n int64) error {
	before := h.turns.Load()
	if _, err := h.openAll(ctx, int(n), "waits", forever); err != nil {
		return err
	}
	return h.reach(ctx, before+n)
}

// activity has p.active rooms take turns, next to the others.
func (h *loadHost) activity(ctx context.Context, p plan, t *table) error {
	h.think.Store(int64(2 * time.Second))
	ids, err := h.openAll(ctx, p.active, "works", forever)
	if err != nil {
		return err
	}
	for _, stalled := range []bool{false, true} {
		watching, stop := context.WithCancel(ctx)
		var watchers sync.WaitGroup
		for i := range p.watchers {
			watchers.Go(func() { h.watch(watching, ids[i%len(ids)], 0, true, stalled && i%2 == 0) })
		}
		h.observe(ctx, &observation{}, 4*time.Second) // until the rooms have their rhythm
		o := &observation{stored: &sync.Map{}}
		used := processor()
		span := h.observe(ctx, o, p.span)
		busy := float64((processor() - used)) / float64(span) / float64(runtime.GOMAXPROCS(0))
		stop()
		watchers.Wait()
		name := strconv.Itoa(p.rooms) + " live rooms, " + strconv.Itoa(p.active) + " active with 4 agents and " + strconv.Itoa(p.watchers) + " watchers"
		if stalled {
			name += ", half of them stalled"
		}
		t.add(name+": turns/s, deliveries/s, use of the processors", "", "%.0f, %.0f, %.0f %%", float64(len(o.gaps))/span.Seconds(), float64(o.delivered.Load())/span.Seconds(), 100*busy)
		t.add(name+": latency of a turn, p50 and p99", "", "%s, %s", ms(percentile(o.gaps, .5)), ms(percentile(o.gaps, .99)))
		t.add(name+": latency of a turn besides its appends, p50 and p99", "p99 <= 5 ms", "%s, %s", ms(percentile(o.added(), .5)), ms(percentile(o.added(), .99)))
		t.add(name+": the appends, p50 and p99", "", "%s, %s", ms(percentile(o.writes, .5)), ms(percentile(o.writes, .99)))
		t.add(name+": delivery, p99", "<= 200 ms", "%s", ms(percentile(o.delays, .99)))
	}
	return nil
}

// reach waits until agents were asked for n turns.
func (h *loadHost) reach(ctx context.Context, n int64) error {
	for h.turns.Load() < n {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// memory returns the bytes of the heap and the stacks, and those of the process that are
// resident.
func memory() (heap, resident uint64) {
	for range 5 { // each halves stacks that are too large, and the second one empties pools
		runtime.GC()
	}
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b, _ := os.ReadFile("/proc/self/statm") // without it the figure is 0
	if f := strings.Fields(string(b)); len(f) > 1 {
		pages, _ := strconv.ParseUint(f[1], 10, 64) // the kernel writes numbers
		resident = pages * uint64(os.Getpagesize())
	}
	return m.HeapAlloc + m.StackInuse, resident
}
