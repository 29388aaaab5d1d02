package adaptive

import (
	"encoding/binary"
	"math/bits"
)

// What was foreseen is part of the state, so that the next decision can learn
// from it without working it out again, which would double its cost. For each
// row there is a record, of which the next decision reads the one of who spoke.

// foreseen is what the mixture foresaw for the turn that is to come.
type foreseen struct {
	current bool     // the rows are of the latest turn
	noted   []byte   // of the state: the records
	seen    evidence // of who spoke
}

// A record holds who the row stands for, which of its features are not 0, and
// those of them that are no facts in parts of 1/valueUnit. What each component
// made of the row is worked out again: of one row only, it costs less than to
// write it of all.
const (
	recordBytes  = 12
	valueUnit    = 2048
	expectedUnit = 1 << 20
	sumUnit      = 1 << 20
)

// groupBit is that of a record of a group, behind which its size stands.
const groupBit = 63

// note writes the records: what is expected, what each component's
// probabilities were divided by, and each row.
func (r *room) note(p *pen, m *model) {
	r.expect()
	p.byte(m.n)
	p.parts(r.seen.expected[:m.corrected()], expectedUnit)
	p.parts(r.sums[:m.n], sumUnit)
	p.byte(len(r.rows))
	for i := range r.rows {
		p.record(&r.rows[i])
	}
}

// record writes a row.
func (p *pen) record(w *row) {
	b := (*[recordBytes]byte)(p.more(recordBytes))
	group := w.size > 1
	binary.LittleEndian.PutUint32(b[0:], w.id)
	binary.LittleEndian.PutUint64(b[4:], w.has|uint64(sign(group))<<groupBit)
	if group {
		p.number(uint32(w.size))
	}
	start, at := len(p.b), 0
	values := (*[2 * 64]byte)(p.more(2 * 64))
	for set := w.has &^ facts; set != 0; set &= set - 1 {
		f := bits.TrailingZeros64(set)
		if f >= features {
			break
		}
		binary.LittleEndian.PutUint16(values[at&126:], uint16(within16(w.x[f]*valueUnit)))
		at += 2
	}
	p.b = p.b[:start+at]
}

// recall takes the evidence of id from the records, if they are of the latest
// turn, and reports whether there is any.
func (r *room) recall(m *model, id uint32) bool {
	if r.noted == nil || r.current {
		return false
	}
	in := reader{b: r.noted}
	r.noted = nil
	if in.below(256) != m.n {
		return false
	}
	e := &r.seen
	e.expected = [correctable]float64{}
	in.parts(e.expected[:m.corrected()], 1.0/expectedUnit)
	in.parts(r.sums[:m.n], 1.0/sumUnit)
	for n := in.below(mostRows + 1); n > 0 && !in.failed; n-- {
		b := (*[recordBytes]byte)(in.take(recordBytes))
		who, has, size := binary.LittleEndian.Uint32(b[0:]), binary.LittleEndian.Uint64(b[4:]), 1.0
		if has>>groupBit != 0 {
			has, size = has&^(1<<groupBit), float64(in.count())
		}
		values := has &^ facts
		if has>>features != 0 || size < 1 {
			return false
		}
		if who == id || size > 1 && r.rank(id) == neverSpoke && r.seats.find(id) >= 0 {
			w := &r.all[0]
			w.has, w.size, w.x = has, size, [features]float64{}
			in.values(w)
			if in.failed {
				return false
			}
			r.scoreRow(m, 0)
			r.evidence(m, 0)
			return true
		}
		in.take(2 * bits.OnesCount64(values))
	}
	return false
}

// values reads the features of a row.
func (r *reader) values(w *row) {
	for set := w.has; set != 0; set &= set - 1 {
		f := bits.TrailingZeros64(set)
		if w.x[f] = 1; facts>>f&1 == 0 {
			w.x[f] = float64(int16(r.word())) * (1.0 / valueUnit)
		}
	}
}
