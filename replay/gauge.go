package replay

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// A gauge holds what is measured of a subject over all transcripts: how long
// decisions took, and how sure and how right it was. It is of one size however
// many decisions there are, and may be used by many goroutines; what it holds
// does not depend on their order.
type gauge struct {
	times  [64 * timeParts]atomic.Uint32
	said   [sureSteps + 1]atomic.Uint32 // decisions by confidence
	right  [sureSteps + 1]atomic.Uint32 // of them, with the true speaker as the likeliest
	unsure atomic.Uint32                // decisions without a confidence
}

// Resolution of times, in parts of a doubling, and of confidences.
const (
	timeParts = 32
	sureSteps = 10_000
)

// measure counts a decision.
func (g *gauge) measure(p *point, v *verdict) {
	if v.took > 0 {
		g.times[timeSlot(v.took)].Add(1)
	}
	switch {
	case v.err != nil || p.simulated || !p.truth.speaks():
	case v.confidence < 0 || v.confidence > 1:
		g.unsure.Add(1)
	default:
		i := int(math.Round(v.confidence * sureSteps))
		g.said[i].Add(1)
		if v.guess == p.truth {
			g.right[i].Add(1)
		}
	}
}

// timeSlot is the slot of a time: so many parts to a doubling.
func timeSlot(d time.Duration) int {
	n := uint64(max(d, 1))
	top := bits.Len64(n) - 1
	part := uint64(0)
	if top >= 5 {
		part = (n >> (top - 5)) & (timeParts - 1)
	}
	return top*timeParts + int(part)
}

// timeOf is the middle of a slot.
func timeOf(slot int) time.Duration {
	top, part := slot/timeParts, slot%timeParts
	low := math.Ldexp(1+float64(part)/timeParts, top)
	return time.Duration(low * (1 + 0.5/timeParts))
}

// percentile returns the time that q per cent of the decisions do not exceed,
// in milliseconds; NaN without any. It is right to 2 %.
func (g *gauge) percentile(q float64) Figure {
	total := uint64(0)
	for i := range g.times {
		total += uint64(g.times[i].Load())
	}
	if total == 0 {
		return Figure(math.NaN())
	}
	rank, seen := uint64(math.Ceil(q/100*float64(total))), uint64(0)
	for i := range g.times {
		if seen += uint64(g.times[i].Load()); seen >= rank {
			return Figure(float64(timeOf(i).Nanoseconds()) / 1e6)
		}
	}
	return Figure(math.NaN())
}
