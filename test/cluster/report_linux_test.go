package cluster

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// A report is what a run has found.
type report struct {
	stalls
	calm                        stalls // those while no process waited long for a processor
	acked, lost, doubled, forks int
	turns, twice                int
}

// String has one line of sums, and one for each kind of fault.
func (r *report) String() string {
	text := fmt.Sprintf("faults %d, messages acknowledged %d, lost %d, doubled %d, forks %d, turns %d, turns twice %d, stalls %s; on a machine that is not overloaded %s",
		r.stalls.count(), r.acked, r.lost, r.doubled, r.forks, r.turns, r.twice, r.stalls.all(), r.calm.all())
	for _, kind := range slices.Sorted(maps.Keys(r.stalls)) {
		text += fmt.Sprintf("\n%s: %s", kind, percentiles(r.stalls[kind]))
	}
	return text
}

// stalls are the times without progress, by kind of fault.
type stalls map[string][]time.Duration

func (s *stalls) add(kind string, d time.Duration) {
	if *s == nil {
		*s = stalls{}
	}
	(*s)[kind] = append((*s)[kind], d)
}

func (s stalls) count() (n int) {
	for _, of := range s {
		n += len(of)
	}
	return n
}

func (s stalls) all() string {
	return percentiles(slices.Concat(slices.Collect(maps.Values(s))...))
}

// percentiles describes times. A percentile is the least time that as many do not exceed.
func percentiles(of []time.Duration) string {
	if len(of) == 0 {
		return "none"
	}
	of = slices.Sorted(slices.Values(of))
	at := func(percent int) float64 { return of[(len(of)*percent+99)/100-1].Seconds() }
	return fmt.Sprintf("%d: p50 %.1f s, p99 %.1f s, max %.1f s", len(of), at(50), at(99), at(100))
}
