package adaptive

import (
	"math"

	"github.com/folkmoot/moot/policies/policy"
)

// restore reads what save wrote. A state that it cannot read, of another
// policy say, counts as none: the room is then learnt anew.
func (r *room) restore(j policy.JSON) {
	r.forget()
	if j == nil {
		return
	}
	in := policy.NewReader(j)
	for in.Object(); in.More(); {
		switch in.Key() {
		case "turns":
			r.turns = int(in.Int())
		case "people":
			for in.Array(); in.More(); {
				r.people = append(r.people, readPerson(&in))
			}
		case "kinds":
			r.kinds = readKinds(&in)
		case "fast":
			readFloats(&in, r.fast[:])
		case "weights":
			readFloats(&in, r.weights[:])
		case "addressed":
			r.addressed = in.String()
		case "lastNamed":
			r.lastNamed = in.String()
		case "cells":
			r.unpack(in.String())
		default:
			in.Skip()
		}
	}
	if in.Err() != nil || len(r.people) > maxPeople || r.turns < len(r.people) {
		r.forget()
	}
}

func (r *room) forget() {
	*r = room{rows: r.rows, people: r.people[:0], agents: r.agents, kinds: [2]int{noClass, noClass}}
}

func readPerson(in *policy.Reader) (p person) {
	in.Array()
	in.More()
	p.id = in.String()
	in.More()
	p.turns = in.Float()
	in.More()
	p.fast = in.Float()
	if in.More() {
		in.Fail("a person of more than three")
	}
	return p
}

func readKinds(in *policy.Reader) (k [2]int) {
	var f [2]float64
	readFloats(in, f[:])
	for i := range k {
		k[i] = min(max(int(f[i]), 0), 4)
	}
	return k
}

func readFloats(in *policy.Reader, to []float64) {
	i := 0
	for in.Array(); in.More(); i++ {
		if f := in.Float(); i < len(to) {
			to[i] = f
		}
	}
}

// save writes the room. Numbers are rounded, so that the state stays short.
func (r *room) save() policy.JSON {
	w := policy.NewWriter(make([]byte, 0, 2048))
	w.Object()
	w.Key("turns")
	w.Int(int64(r.turns))
	w.Key("people")
	w.Array()
	for i := range r.people {
		w.Array()
		w.String(r.people[i].id)
		w.Float(r.people[i].turns)
		w.Float(round(r.people[i].fast))
		w.EndArray()
	}
	w.EndArray()
	w.Key("kinds")
	writeFloats(&w, []float64{float64(r.kinds[0]), float64(r.kinds[1])})
	w.Key("fast")
	writeFloats(&w, r.fast[:])
	w.Key("weights")
	writeFloats(&w, r.weights[:])
	if r.addressed != "" {
		w.Key("addressed")
		w.String(r.addressed)
	}
	if r.lastNamed != "" {
		w.Key("lastNamed")
		w.String(r.lastNamed)
	}
	w.Key("cells")
	w.String(r.pack())
	w.EndObject()
	return w.Bytes()
}

func writeFloats(w *policy.Writer, all []float64) {
	w.Array()
	for _, f := range all {
		w.Float(round(f))
	}
	w.EndArray()
}

func round(f float64) float64 { return math.Round(f*1e6) / 1e6 }

// digits are those of base64 for URLs.
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// pack writes the cells as runs: two digits for how many zeros precede, two
// for the count. A room of a hundred turns has some two hundred cells.
func (r *room) pack() string {
	out := make([]byte, 0, 1024)
	gap := 0
	for _, word := range r.cells {
		if word == 0 { // most are
			gap += 8
			continue
		}
		for shift := 0; shift < 64; shift += 8 {
			c := uint8(word >> shift)
			if c == 0 {
				gap++
				continue
			}
			out = append(out, digits[gap>>6], digits[gap&63], digits[c>>6], digits[c&63])
			gap = 0
		}
	}
	return string(out)
}

func (r *room) unpack(s string) {
	at := 0
	for ; len(s) >= 4; s = s[4:] {
		at += int(digit(s[0]))<<6 | int(digit(s[1]))
		if at >= cellCount {
			return
		}
		r.cells[at/8] |= uint64(digit(s[2])<<6|digit(s[3])) << (at % 8 * 8)
		at++
	}
}

func digit(c byte) uint8 {
	switch {
	case c-'A' < 26:
		return c - 'A'
	case c-'a' < 26:
		return c - 'a' + 26
	case c-'0' < 10:
		return c - '0' + 52
	case c == '-':
		return 62
	}
	return 63
}
