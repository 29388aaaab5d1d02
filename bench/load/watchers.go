package main

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/room"
)

// thinks is how long the agents of the room with many watchers think: with two events a
// turn, 10,000 watchers get 300,000 events a second.
const thinks = 60 * time.Millisecond

// measureWatchers has one room without watchers, with many, and without again.
func measureWatchers(ctx context.Context, p plan, t *table) (err error) {
	h, err := newLoadHost(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	h.think.Store(int64(thinks))
	id, err := h.open(ctx, "works", forever, moot.Options{})
	if err != nil {
		return err
	}
	h.observe(ctx, &observation{}, 4*time.Second) // until the policy is compiled
	before := &observation{}
	h.observe(ctx, before, p.span)
	with, span := h.watched(ctx, p, id)
	after := &observation{}
	h.observe(ctx, after, p.span)
	alone := thinks + (mean(before.gaps)+mean(after.gaps))/2
	name := "one room with " + strconv.Itoa(p.fanOut) + " watchers: "
	t.add(name+"deliveries/s", "300,000", "%.0f of %.0f", float64(with.delivered.Load())/span.Seconds(), float64(2*len(with.gaps)*p.fanOut)/span.Seconds())
	t.add(name+"delivery, p50 and p99", "p99 <= 200 ms", "%s, %s", ms(percentile(with.delays, .5)), ms(percentile(with.delays, .99)))
	t.add(name+"how much longer a turn takes whose agent thinks 60 ms", "<= 5 %", "%+.1f %%", 100*((thinks+mean(with.gaps)).Seconds()/alone.Seconds()-1))
	return nil
}

// watched has many watchers of a room, one of 50 of which is timed.
func (h *loadHost) watched(ctx context.Context, p plan, id string) (*observation, time.Duration) {
	watching, stop := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	v, _ := h.View(ctx, id, room.UserVisible) // an error shows as no deliveries
	for i := range p.fanOut {
		watchers.Go(func() { h.watch(watching, id, int64(v.Seq), i%50 == 0, false) })
	}
	h.observe(ctx, &observation{}, 4*time.Second) // until all have come
	o := &observation{stored: &sync.Map{}}
	span := h.observe(ctx, o, p.span)
	stop()
	watchers.Wait()
	return o, span
}

func mean(all []time.Duration) (sum time.Duration) {
	for _, d := range all {
		sum += d
	}
	return sum / time.Duration(max(1, len(all)))
}
