package relaytest

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"time"
)

// A FaultInjector mangles packets as the threat model allows a relay to. Each
// number is a percentage of packets. It is not safe for concurrent use.
type FaultInjector struct {
	Rand      *rand.Rand
	Drop      int // dropped
	Duplicate int // delivered twice
	Delay     int // delayed by up to MaxDelay, so that later ones overtake it
	MaxDelay  time.Duration
	Flip      int // one bit flipped
	Reflect   int // also sent back, in the name of its receiver
	Replay    int // an earlier packet delivered again
	Truncate  int // end cut off
	Forge     int // a packet of random bytes added

	history []Packet
}

const historySize = 1000

// Mangle implements the type Mangle.
func (c *FaultInjector) Mangle(p Packet) []Delivery {
	p.Payload = bytes.Clone(p.Payload)
	if len(c.history) == historySize {
		c.history = slices.Delete(c.history, 0, 1)
	}
	c.history = append(c.history, p)
	if c.chance(c.Drop) {
		return nil
	}
	d := Delivery{Packet: p}
	if c.chance(c.Delay) && c.MaxDelay > 0 {
		d.After = time.Duration(c.Rand.Int64N(int64(c.MaxDelay)))
	}
	out := []Delivery{d}
	if c.chance(c.Duplicate) {
		out = append(out, d)
	}
	if c.chance(c.Flip) && len(p.Payload) > 0 {
		out[0].Payload = flip(p.Payload, c.Rand.IntN(8*len(p.Payload)))
	}
	if c.chance(c.Truncate) && len(p.Payload) > 0 {
		out[0].Payload = out[0].Payload[:c.Rand.IntN(len(p.Payload))]
	}
	if c.chance(c.Reflect) {
		out = append(out, Delivery{Packet: Packet{To: p.From, From: p.To, Payload: p.Payload}})
	}
	if c.chance(c.Replay) {
		out = append(out, Delivery{Packet: c.history[c.Rand.IntN(len(c.history))]})
	}
	if c.chance(c.Forge) {
		noise := make([]byte, 1+c.Rand.IntN(300))
		for i := range noise {
			noise[i] = byte(c.Rand.Uint32())
		}
		noise[0] = byte(1 + c.Rand.IntN(7)) // a valid kind
		out = append(out, Delivery{Packet: Packet{To: p.To, From: p.From, Payload: noise}})
	}
	return out
}

func (c *FaultInjector) chance(percent int) bool { return percent > 0 && c.Rand.IntN(100) < percent }

func flip(b []byte, bit int) []byte {
	b = bytes.Clone(b)
	b[bit/8] ^= 1 << (bit % 8)
	return b
}
