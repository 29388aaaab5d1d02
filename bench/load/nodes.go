package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fastRooms take turns as fast as they can.
const fastRooms = 256

// measureNodes has three nodes share a log, for each engine that can, and one process alone do
// the same next to them. All run on this machine, and so do the servers of the log.
func measureNodes(ctx context.Context, p plan, t *table) error {
	for _, e := range engines {
		if p.engines != "" && !strings.Contains(","+p.engines+",", ","+e.name+",") {
			continue
		}
		for _, step := range []struct {
			name    string
			measure func(nodes, plan, engine, *table) error
		}{{"fast", nodes.fast}, {"live", nodes.live}} {
			err := e.started(p, func(setups []nodeSetup) (err error) {
				for i := range setups {
					of := fmt.Sprintf(".%s.%s.%d", e.name, step.name, i+1)
					setups[i].Profile, setups[i].Heap = withSuffix(p.profile, of), withSuffix(p.heap, of)
				}
				all, err := startNodes(ctx, setups)
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, all.end()) }()
				return step.measure(all, p, e, t)
			})
			if errors.Is(err, errMissing) {
				t.add(e.title, "", "not measured: %v", err)
				break
			}
			if err != nil {
				return fmt.Errorf("%s: %w", e.title, err)
			}
		}
	}
	return nil
}

// withSuffix returns the name of a file for one process; "" remains "".
func withSuffix(file, suffix string) string {
	if file == "" {
		return ""
	}
	return file + suffix
}

// fast has rooms take turns as fast as they can.
func (all nodes) fast(p plan, e engine, t *table) error {
	if err := all.open("works", fastRooms); err != nil {
		return err
	}
	if _, err := all.observe(0, 4*time.Second); err != nil { // until the policy is compiled
		return err
	}
	o, err := all.observe(0, p.span)
	if err != nil {
		return err
	}
	name := e.title + ", " + strconv.Itoa(fastRooms) + " rooms as fast as they can: "
	t.add(name+"durable turns/s; appends/s", "", "%.0f; %.0f", float64(len(o.Gaps))/o.Took.Seconds(), float64(o.Appends)/o.Took.Seconds())
	t.add(name+"the appends of a turn, p50 and p99", "", "%s, %s", ms(percentile(o.Writes, .5)), ms(percentile(o.Writes, .99)))
	return nil
}

// live opens live rooms, each with a turn in flight, and then has some of them take turns.
func (all nodes) live(p plan, e engine, t *table) error {
	name := e.title + ", " + strconv.Itoa(p.shared) + " live rooms: "
	active := p.shared / 10
	n := p.shared - active
	first := n / 3 // they carry what all rooms of a node share
	before, _, err := all.wait(first)
	if err != nil {
		return err
	}
	after, took, err := all.wait(n - first)
	if err != nil {
		return err
	}
	more := float64(n - first)
	t.add(name+"memory of one more with a turn in flight, all processes together: heap and stacks; resident", "", "%.1f KiB; %.1f KiB", (float64(after.Heap)-float64(before.Heap))/more/1024, (float64(after.Resident)-float64(before.Resident))/more/1024)
	t.add(name+"memory of all by their number: heap and stacks; resident", "", "%.1f KiB; %.1f KiB", float64(after.Heap)/float64(n)/1024, float64(after.Resident)/float64(n)/1024)
	t.add(name+"opened a second", "", "%.0f", more/took.Seconds())
	if err := all.open("works", active); err != nil {
		return err
	}
	const think = 2 * time.Second
	if _, err := all.observe(think, 6*time.Second); err != nil { // until the rooms have their rhythm
		return err
	}
	o, err := all.observe(think, p.span)
	if err != nil {
		return err
	}
	name += strconv.Itoa(active) + " of them active, whose agents think 2 s on average: "
	t.add(name+"turns/s; use of the processors by the processes of rooms", "", "%.0f; %.0f %%", float64(len(o.Gaps))/o.Took.Seconds(), 100*float64(o.Used)/float64(o.Took)/float64(runtime.NumCPU()))
	t.add(name+"latency of a turn besides its appends, p50 and p99", "", "%s, %s", ms(percentile(o.added(), .5)), ms(percentile(o.added(), .99)))
	t.add(name+"the appends, p50 and p99", "", "%s, %s", ms(percentile(o.Writes, .5)), ms(percentile(o.Writes, .99)))
	return nil
}

// wait opens rooms whose agents do not answer, and returns the memory with them and how long the
// opening took.
func (all nodes) wait(n int) (sum Held, took time.Duration, err error) {
	began := time.Now()
	if err := all.open("waits", n); err != nil {
		return sum, 0, err
	}
	took = time.Since(began)
	if _, err := all.observe(0, 15*time.Second); err != nil { // until the policy is compiled, and the servers cache nothing
		return sum, 0, err
	}
	each, err := call[struct{}, Held](all, "Memory", func(int) (none struct{}) { return none })
	for _, m := range each {
		sum.Heap, sum.Resident = sum.Heap+m.Heap, sum.Resident+m.Resident
	}
	return sum, took, err
}

// open opens n rooms, a part of them at each node.
func (all nodes) open(kind string, n int) error {
	_, err := call[Opening, struct{}](all, "Open", func(i int) Opening {
		return Opening{kind, n*(i+1)/len(all) - n*i/len(all)}
	})
	return err
}

// observe measures all nodes at the same time.
func (all nodes) observe(think, long time.Duration) (sum Observed, err error) {
	each, err := call[Span, Observed](all, "Observe", func(int) Span { return Span{think, long} })
	for _, o := range each {
		sum.Gaps, sum.Writes = slices.Concat(sum.Gaps, o.Gaps), slices.Concat(sum.Writes, o.Writes)
		sum.Appends, sum.Took, sum.Used = sum.Appends+o.Appends, max(sum.Took, o.Took), sum.Used+o.Used
	}
	return sum, err
}

// added returns by how much turns took longer than their appends.
func (o *Observed) added() []time.Duration { return added(o.Gaps, o.Writes) }
