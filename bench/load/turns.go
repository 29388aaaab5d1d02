package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/room"
)

// measureTurns has rooms take turns as fast as they can: one alone, and many.
func measureTurns(ctx context.Context, p plan, t *table) (err error) {
	h, err := newLoadHost(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	h.think.Store(int64(2 * time.Millisecond)) // the disk is at rest when a turn ends
	id, err := h.open(ctx, "works", forever, moot.Options{})
	if err != nil {
		return err
	}
	h.observe(ctx, &observation{}, 3*time.Second) // until the policy is compiled
	o := &observation{}
	h.observe(ctx, o, p.span/2)
	if err := h.stop(ctx, id); err != nil {
		return err
	}
	single, err := h.singleAppends(ctx, p.span/4)
	if err != nil {
		return err
	}
	raw, err := rawAppends(ctx, h.dir, p.span/4)
	if err != nil {
		return err
	}
	gap, two := percentile(o.gaps, .5), 2*percentile(single, .5)
	t.add("latency of a durable turn of one room by two appends of a message each, medians", "<= 1.3", "%.2f (%s by %s)", gap.Seconds()/two.Seconds(), ms(gap), ms(two))
	t.add("appends of such a turn, together, median", "", "%s", ms(percentile(o.writes, .5)))
	t.add("the same latency without these appends, median", "", "%s", ms(percentile(o.added(), .5)))
	t.add("two writes of 4 KiB, each with its fsync, to a file of the same disk, median", "", "%s", ms(2*percentile(raw, .5)))
	h.think.Store(0)
	if _, err := h.openAll(ctx, 256, "works", forever); err != nil {
		return err
	}
	h.observe(ctx, &observation{}, time.Second)
	o = &observation{}
	used := processor()
	span := h.observe(ctx, o, p.span)
	used = processor() - used
	n := float64(len(o.gaps))
	t.add("durable turns/s of 256 rooms, by processors", "2,000", "%.0f", n/span.Seconds()/float64(runtime.GOMAXPROCS(0)))
	t.add("durable turns in a second of processor time", "", "%.0f", n/used.Seconds())
	return nil
}

// singleAppends measures the appends of a paused room in which a person speaks.
func (h *loadHost) singleAppends(ctx context.Context, span time.Duration) (all []time.Duration, err error) {
	id, err := h.open(ctx, "waits", forever, moot.Options{})
	if err != nil {
		return nil, err
	}
	if _, err := h.Do(ctx, id, moot.Command{Actor: room.ActorHost, Do: room.Pause{}}); err != nil {
		return nil, err
	}
	for began, n := time.Now(), 0; time.Since(began) < span && ctx.Err() == nil; n++ {
		h.timesOf(id).answers() // no append yet
		if _, err := h.Do(ctx, id, moot.Command{Actor: "me", Do: room.Say{Text: said(n)}}); err != nil {
			return nil, err
		}
		all = append(all, h.timesOf(id).stored())
		time.Sleep(2 * time.Millisecond) // as a room whose agent thinks
	}
	return all, h.stop(ctx, id)
}

// rawAppends measures writes to a file, each with its fsync.
func rawAppends(ctx context.Context, dir string, span time.Duration) (all []time.Duration, err error) {
	f, err := os.Create(filepath.Join(dir, "raw"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	page := make([]byte, 4096)
	for began := time.Now(); time.Since(began) < span && ctx.Err() == nil; time.Sleep(2 * time.Millisecond) { // as a room whose agent thinks
		now := time.Now()
		if _, err := f.Write(page); err != nil {
			return nil, err
		}
		if err := f.Sync(); err != nil {
			return nil, err
		}
		all = append(all, time.Since(now))
	}
	return all, nil
}
