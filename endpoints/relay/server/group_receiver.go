package server

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// A receiver takes what the bus brings. Anyone who may publish on the bus can send
// anything; a message has no more power than the relay that this one trusts least:
// it can name a wrong sender, disturb and disconnect, but not read or change what
// endpoints accept.
type receiver struct{ g *group }

// Messages between relays are the frames RECV and GONE, for a device, and CLAIM,
// about it. CLAIM states the age of a connection of the device in microseconds:
//
//	0x40 CLAIM    relay to relay     age u64
const (
	kindClaim = 0x40
	claimSize = 1 + 8
)

func appendClaim(b []byte, age time.Duration) []byte {
	return binary.BigEndian.AppendUint64(append(b, kindClaim), uint64(max(0, age.Microseconds())))
}

var errClaim = errors.New("not a CLAIM")

// parseClaim is the inverse of appendClaim.
func parseClaim(b []byte) (age time.Duration, err error) {
	if len(b) != claimSize || b[0] != kindClaim {
		return 0, errClaim
	}
	us := binary.BigEndian.Uint64(b[1:])
	if us > uint64(math.MaxInt64/time.Microsecond) {
		return 0, errClaim
	}
	return time.Duration(us) * time.Microsecond, nil
}

// Receive handles a message for a device.
func (r receiver) Receive(to frame.ID, b []byte) {
	s := r.g.s
	if age, err := parseClaim(b); err == nil {
		r.g.claimed(to, age)
		return
	}
	f, _ := frame.Decode(b) // the text of an error would tell no more than the count
	switch f := f.(type) {
	case frame.Recv:
		s.metrics.groupIn.Inc()
		if reason, ok := s.deliver(f.From, to, b); !ok {
			r.g.notifyGone(f.From, to, reason)
		}
	case frame.Gone:
		if c := s.device(to); c != nil {
			s.notifyGone(c, f.To, f.Reason)
		}
	default:
		s.metrics.malformed.Inc()
	}
}

// Undelivered tells a device of this relay that no relay has the other.
func (r receiver) Undelivered(from, to frame.ID) { r.g.undelivered(from, to) }

// Overflowed counts losses of messages from other relays.
func (r receiver) Overflowed(times int) { r.g.s.metrics.groupOverflows.Add(times) }

// Connected notes and logs whether the bus can be used; each reason why not once in
// an outage. Devices may have moved to another relay meanwhile: all are claimed
// again.
func (r receiver) Connected(err error) {
	g := r.g
	was := g.up.Swap(err == nil)
	if err != nil {
		if !slices.Contains(g.reasons, err.Error()) {
			g.reasons = append(g.reasons, err.Error())
			g.s.log.Warn("not connected to NATS: only devices of this relay reach each other", "error", err)
		}
		return
	}
	if was {
		return
	}
	g.reasons = nil
	g.s.log.Info("connected to NATS")
	for _, c := range g.s.connected() {
		g.claim(c.id, time.Since(c.registered))
	}
}
