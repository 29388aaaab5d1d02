package relaytest

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"time"
)

// FaultInjector is a Bend that does what the threat model lets a relay do. Each
// number is a share of a hundred parcels.
type FaultInjector struct {
	Rand      *rand.Rand
	Drop      int // lost
	Duplicate int // handed out twice
	Delay     int // late by up to Late, so that later ones overtake it
	MaxDelay  time.Duration
	Flip      int // one bit changed
	Reflect   int // once more, in the name of the one that it is for
	Replay    int // an earlier one, of anybody, once more
	Truncate  int // without its end
	Forge     int // bytes of the relay's own

	history []Packet
}

const historySize = 1000

// Mangle does it.
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
		noise[0] = byte(1 + c.Rand.IntN(7)) // a kind that there is
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
