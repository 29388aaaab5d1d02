package relaytest

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"time"
)

// Chaos is a Bend that does what the threat model lets a relay do. Each
// number is a share of a hundred parcels.
type Chaos struct {
	Rand      *rand.Rand
	Drop      int // lost
	Duplicate int // handed out twice
	Delay     int // late by up to Late, so that later ones overtake it
	Late      time.Duration
	Flip      int // one bit changed
	Swap      int // once more, in the name of the one that it is for
	Replay    int // an earlier one, of anybody, once more
	Truncate  int // without its end
	Invent    int // bytes of the relay's own

	past []Parcel
}

const remembered = 1000

// Bend does it.
func (c *Chaos) Bend(p Parcel) []Delivery {
	p.Payload = bytes.Clone(p.Payload)
	if len(c.past) == remembered {
		c.past = slices.Delete(c.past, 0, 1)
	}
	c.past = append(c.past, p)
	if c.happens(c.Drop) {
		return nil
	}
	d := Delivery{Parcel: p}
	if c.happens(c.Delay) && c.Late > 0 {
		d.After = time.Duration(c.Rand.Int64N(int64(c.Late)))
	}
	out := []Delivery{d}
	if c.happens(c.Duplicate) {
		out = append(out, d)
	}
	if c.happens(c.Flip) && len(p.Payload) > 0 {
		out[0].Payload = flip(p.Payload, c.Rand.IntN(8*len(p.Payload)))
	}
	if c.happens(c.Truncate) && len(p.Payload) > 0 {
		out[0].Payload = out[0].Payload[:c.Rand.IntN(len(p.Payload))]
	}
	if c.happens(c.Swap) {
		out = append(out, Delivery{Parcel: Parcel{To: p.From, From: p.To, Payload: p.Payload}})
	}
	if c.happens(c.Replay) {
		out = append(out, Delivery{Parcel: c.past[c.Rand.IntN(len(c.past))]})
	}
	if c.happens(c.Invent) {
		noise := make([]byte, 1+c.Rand.IntN(300))
		for i := range noise {
			noise[i] = byte(c.Rand.Uint32())
		}
		noise[0] = byte(1 + c.Rand.IntN(7)) // a kind that there is
		out = append(out, Delivery{Parcel: Parcel{To: p.To, From: p.From, Payload: noise}})
	}
	return out
}

func (c *Chaos) happens(percent int) bool { return percent > 0 && c.Rand.IntN(100) < percent }

func flip(b []byte, bit int) []byte {
	b = bytes.Clone(b)
	b[bit/8] ^= 1 << (bit % 8)
	return b
}
