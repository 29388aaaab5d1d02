package score

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// A Timing is a histogram of the times that a policy took to decide, with 32
// bins to a doubling (as in HdrHistogram). Its size is fixed. It may be used by
// several goroutines.
type Timing struct {
	bins [64 * binsPerDoubling]atomic.Uint32
}

const binsPerDoubling = 32

// A TimeSlot is how many decisions took longer than the slot before and no
// longer than MS milliseconds.
type TimeSlot struct {
	MS    Figure `json:"ms"`
	Count int    `json:"count"`
}

func (t *Timing) addTime(d time.Duration) {
	if d > 0 {
		t.bins[timeBin(d)].Add(1)
	}
}

func timeBin(d time.Duration) int {
	n := uint64(max(d, 1))
	exponent := bits.Len64(n) - 1
	part := uint64(0)
	if exponent >= 5 {
		part = (n >> (exponent - 5)) & (binsPerDoubling - 1)
	}
	return exponent*binsPerDoubling + int(part)
}

// binCenter is the time in the middle of a bin.
func binCenter(bin int) time.Duration {
	exponent, part := bin/binsPerDoubling, bin%binsPerDoubling
	low := math.Ldexp(1+float64(part)/binsPerDoubling, exponent)
	return time.Duration(low * (1 + 0.5/binsPerDoubling))
}

// percentile returns the time that q percent of the decisions do not exceed, in
// milliseconds, with an error of at most 2 %. It is NaN without decisions.
func (t *Timing) percentile(q float64) Figure {
	total := uint64(0)
	for i := range t.bins {
		total += uint64(t.bins[i].Load())
	}
	if total == 0 {
		return None()
	}
	rank, seen := uint64(math.Ceil(q/100*float64(total))), uint64(0)
	for i := range t.bins {
		if seen += uint64(t.bins[i].Load()); seen >= rank {
			return Figure(float64(binCenter(i).Nanoseconds()) / 1e6)
		}
	}
	return None()
}

// slots returns the histogram with two slots to a doubling.
func (t *Timing) slots() []TimeSlot {
	var all []TimeSlot
	const half = binsPerDoubling / 2
	for i := 0; i < len(t.bins); i += half {
		n := 0
		for j := range half {
			n += int(t.bins[i+j].Load())
		}
		if n > 0 || len(all) > 0 {
			end := math.Ldexp(1+float64((i+half)%binsPerDoubling)/binsPerDoubling, (i+half)/binsPerDoubling)
			all = append(all, TimeSlot{Figure(end / 1e6), n})
		}
	}
	for len(all) > 0 && all[len(all)-1].Count == 0 {
		all = all[:len(all)-1]
	}
	return all
}
