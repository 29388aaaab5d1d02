package delivery

import (
	"slices"
	"time"
)

// Rates bounds how many messages go from one participant to another in a time, for each
// ordered pair. It is a token bucket, as the generic cell rate algorithm (ITU-T I.371)
// keeps it: one time for each pair. The zero Rates has counted nothing.
type Rates []Rate

// A Rate is what Rates keeps of a pair. Full is the time at which its bucket is full.
type Rate struct {
	From string        `json:"from_agent"`
	To   string        `json:"to_agent"`
	Full time.Duration `json:"full_ns"`
}

// Bound is a rate of one message in the time Every, and Burst messages at once.
type Bound struct {
	Every time.Duration
	Burst int
}

// Free returns the time from which a message of the pair may be delivered; it is now
// or earlier if none has to wait.
func (r Rates) Free(from, to string, b Bound) time.Duration {
	for i := range r {
		if r[i].From == from && r[i].To == to {
			return r[i].Full - time.Duration(b.Burst-1)*b.Every
		}
	}
	return 0
}

// Count returns r with one more message of the pair at that time. A message that waits
// counts like others, so that the next one waits longer.
func (r Rates) Count(from, to string, now time.Duration, b Bound) Rates {
	full := now
	kept := slices.DeleteFunc(slices.Clone(r), func(p Rate) bool {
		if p.From == from && p.To == to {
			full = max(now, p.Full)
			return true
		}
		return p.Full <= now
	})
	return append(kept, Rate{from, to, full + b.Every})
}
