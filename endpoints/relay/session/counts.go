package session

import (
	"sync/atomic"
	"time"
)

// Counts are what has come to a Link and what became of it. They tell no
// peers apart and hold nothing that was said. All but Unsent and Lost are of
// payloads or messages that came in.
type Counts struct {
	Received   uint64 // payloads
	Delivered  uint64 // messages, each once
	Dropped    uint64 // not authentic, too late or not wanted: the relay's doing, or a network's
	Repeated   uint64 // authentic and of no use: sent again, replayed, or far ahead
	Strangers  uint64 // of devices that are not paired with this one, or have other keys than they had
	Overflowed uint64 // more at once than this device takes; its sender sends it again
	Violations uint64 // authentic, and nothing that a device sends
	Unsent     uint64 // payloads for which there was no room on the way out; they are sent again
	Lost       uint64 // messages of which nobody knows whether they arrived
}

// counters are Counts that one goroutine writes and others read.
type counters struct {
	received, delivered, dropped, repeated, strangers, overflowed, violations, unsent, lost atomic.Uint64
}

// Counts returns the counts since the Link was made.
func (l *Link) Counts() Counts {
	c := &l.counters
	return Counts{
		Received: c.received.Load(), Delivered: c.delivered.Load(), Dropped: c.dropped.Load(), Repeated: c.repeated.Load(),
		Strangers: c.strangers.Load(), Overflowed: c.overflowed.Load(), Violations: c.violations.Load(), Unsent: c.unsent.Load(), Lost: c.lost.Load(),
	}
}

// receive hands a payload to a session and counts what became of it.
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
