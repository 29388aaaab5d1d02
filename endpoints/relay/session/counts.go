package session

import (
	"sync/atomic"
	"time"
)

// Counts are the statistics of a Link. They do not distinguish peers and
// contain no content. All but Unsent and Lost count incoming payloads or
// messages.
type Counts struct {
	Received   uint64 // payloads
	Delivered  uint64 // messages
	Dropped    uint64 // not authentic, too late or unexpected
	Repeated   uint64 // authentic duplicates, replays, or frames too far ahead
	Strangers  uint64 // from devices that are not paired, or that use other keys than at pairing
	Overflowed uint64 // dropped because a receive queue was full; the peer resends them
	Violations uint64 // authentic, but against the protocol
	Unsent     uint64 // dropped because the send queue was full; they are resent
	Lost       uint64 // messages whose arrival is unknown
}

// counters hold Counts. One goroutine writes them, any goroutine may read them.
type counters struct {
	received, delivered, dropped, repeated, strangers, overflowed, violations, unsent, lost atomic.Uint64
}

// Counts returns the statistics since NewLink. It is safe for concurrent use.
func (l *Link) Counts() Counts {
	c := &l.counters
	return Counts{
		Received: c.received.Load(), Delivered: c.delivered.Load(), Dropped: c.dropped.Load(), Repeated: c.repeated.Load(),
		Strangers: c.strangers.Load(), Overflowed: c.overflowed.Load(), Violations: c.violations.Load(), Unsent: c.unsent.Load(), Lost: c.lost.Load(),
	}
}

// receive passes a payload to a session and counts the result.
func (c *counters) receive(s *Session, now time.Time, payload []byte) {
	dropped, repeated := s.dropped, s.repeated
	s.Receive(now, payload)
	c.dropped.Add(uint64(s.dropped - dropped))
	c.repeated.Add(uint64(s.repeated - repeated))
}

// count counts an event of a session.
func (c *counters) count(e Event) {
	switch e.(type) {
	case Delivered:
		c.delivered.Add(1)
	case Violated:
		c.violations.Add(1)
	case Lost:
		c.lost.Add(1)
	}
}
