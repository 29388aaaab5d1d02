package adaptive

import (
	"encoding/binary"
	"math"

	"github.com/folkmoot/moot/policies/policy"
)

// A packer appends numbers.
type packer struct {
	b     []byte
	zeros int // counts that are 0 and not yet written
}

func (w *packer) number(n int) { w.b = binary.AppendUvarint(w.b, uint64(n)) }

func (w *packer) flag(v bool) { w.number(int(sign(v))) }

// counts writes counters: a zero stands before how many there are in a row.
func (w *packer) counts(all []uint16) {
	for _, n := range all {
		if n == 0 {
			w.zeros++
			continue
		}
		w.flush()
		w.number(int(n))
	}
}

// flush writes the zeros before what comes next.
func (w *packer) flush() {
	if w.zeros > 0 {
		w.b = append(w.b, 0)
		w.number(w.zeros)
		w.zeros = 0
	}
}

// cells writes the cells likewise.
func (w *packer) cells(all *[cellCount]uint8) {
	for i := 0; i < len(all); {
		if all[i] != 0 {
			w.b = append(w.b, all[i])
			i++
			continue
		}
		from := i
		for i < len(all) && all[i] == 0 {
			i++
		}
		w.b = append(w.b, 0)
		w.number(i - from)
	}
}

func (w *packer) fractions(all []float32) {
	n := len(all)
	for n > 0 && all[n-1] == 0 {
		n-- // of what is not in use
	}
	w.number(n)
	for _, f := range all[:n] {
		w.b = binary.LittleEndian.AppendUint32(w.b, math.Float32bits(f))
	}
}

func (w *packer) people(all []person) {
	w.number(len(all))
	for i := range all {
		p := &all[i]
		w.b = binary.LittleEndian.AppendUint64(w.b, p.id)
		w.number(p.turn)
		w.number(p.count)
		w.b = binary.LittleEndian.AppendUint32(w.b, math.Float32bits(p.fast))
		w.number(int(sign(p.marked)) | int(sign(p.asked))<<1 | len(p.named)<<2)
		for _, who := range p.named {
			w.b = binary.LittleEndian.AppendUint32(w.b, who)
		}
	}
}

func (w *packer) turn(t *turn) {
	w.number(t.number)
	w.number(len(t.named))
	for _, n := range t.named {
		w.b = binary.LittleEndian.AppendUint32(w.b, n.who)
		w.b = append(w.b, n.sign)
	}
	w.b = binary.LittleEndian.AppendUint32(w.b, t.voc)
	w.number(int(sign(t.question)) | int(sign(t.asks))<<1 | int(sign(t.code))<<2 | t.words<<3)
	w.number(len(t.bag))
	for _, word := range t.bag {
		w.b = binary.LittleEndian.AppendUint16(w.b, word)
	}
}

// An unpacker reads what a packer wrote. What does not fit clears ok; from
// then on all is 0.
type unpacker struct {
	b     []byte
	p     int
	ok    bool
	zeros int // counters that are 0 before the next is read
}

func (w *unpacker) number() int {
	n := uint64(0)
	for shift := 0; shift < 35 && w.p < len(w.b); shift += 7 {
		c := w.b[w.p]
		w.p++
		if n |= uint64(c&0x7f) << shift; c < 0x80 {
			if n > math.MaxInt32 {
				break
			}
			return int(n)
		}
	}
	w.fail()
	return 0
}

func (w *unpacker) fail() { w.ok, w.p = false, len(w.b) }

// below reads a number that must be less than n.
func (w *unpacker) below(n int) int {
	x := w.number()
	if x >= n {
		w.fail()
		return 0
	}
	return x
}

func (w *unpacker) flag() bool { return w.below(2) == 1 }

// bytes returns the next n.
func (w *unpacker) bytes(n int) []byte {
	if len(w.b)-w.p < n {
		w.fail()
		return make([]byte, n)
	}
	w.p += n
	return w.b[w.p-n : w.p]
}

func (w *unpacker) uint32() uint32 { return binary.LittleEndian.Uint32(w.bytes(4)) }

func (w *unpacker) fraction() float32 { return math.Float32frombits(w.uint32()) }

func (w *unpacker) counts(all []uint16) {
	for i := range all {
		if w.zeros > 0 {
			w.zeros--
			continue
		}
		n := w.below(1 << 16)
		if n == 0 {
			if w.zeros = w.number() - 1; w.zeros < 0 {
				w.fail()
				w.zeros = 0
			}
		}
		all[i] = uint16(n)
	}
}

// settle checks that no counters are left over.
func (w *unpacker) settle() {
	if w.zeros != 0 {
		w.fail()
	}
}

func (w *unpacker) cells(all *[cellCount]uint8) {
	for i := 0; i < len(all); {
		if w.p >= len(w.b) {
			w.fail()
			return
		}
		if all[i] = w.b[w.p]; all[i] != 0 {
			w.p++
			i++
			continue
		}
		w.p++
		n := w.number()
		if i += n; n == 0 || i > len(all) {
			w.fail()
			return
		}
	}
}

func (w *unpacker) fractions(all []float32) {
	n := w.below(len(all) + 1)
	for i := range all[:n] {
		all[i] = w.fraction()
	}
}

func (w *unpacker) people(all []person) []person {
	for range w.below(maxPeople + 1) {
		if len(all) < cap(all) {
			all = all[:len(all)+1]
		} else {
			all = append(all, person{})
		}
		p := &all[len(all)-1]
		p.id, p.turn, p.count, p.fast = binary.LittleEndian.Uint64(w.bytes(8)), w.number(), w.number(), w.fraction()
		bits := w.below((maxNames + 1) << 2)
		p.marked, p.asked, p.named = bits&1 != 0, bits&2 != 0, p.named[:0]
		for range bits >> 2 {
			p.named = append(p.named, w.uint32())
		}
	}
	return all
}

func (w *unpacker) turn(t *turn) {
	t.number = w.number()
	for range w.below(maxNames + 1) {
		t.named = append(t.named, name{who: w.uint32(), sign: w.bytes(1)[0]})
	}
	t.voc = w.uint32()
	bits := w.below((shortTurn + 2) << 3)
	t.question, t.asks, t.code, t.words = bits&1 != 0, bits&2 != 0, bits&4 != 0, bits>>3
	for range w.below(maxWords + 1) {
		t.bag = append(t.bag, binary.LittleEndian.Uint16(w.bytes(2)))
	}
}

// digits are those of base64 for URLs.
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// values are the values of digits; 255 for what is none.
var values = func() (v [256]uint8) {
	for i := range v {
		v[i] = 255
	}
	for i := range len(digits) {
		v[digits[i]] = uint8(i)
	}
	return v
}()

// armour writes bytes as a JSON string.
func armour(b []byte) policy.JSON {
	out := make([]byte, 0, len(b)/3*4+6)
	out = append(out, '"')
	for ; len(b) >= 3; b = b[3:] {
		n := uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
		out = append(out, digits[n>>18], digits[n>>12&63], digits[n>>6&63], digits[n&63])
	}
	switch len(b) {
	case 1:
		out = append(out, digits[b[0]>>2], digits[b[0]&3<<4])
	case 2:
		out = append(out, digits[b[0]>>2], digits[b[0]&3<<4|b[1]>>4], digits[b[1]&15<<2])
	}
	return append(out, '"')
}

// disarm appends the bytes that armour wrote, and reports whether s is such.
func disarm(b []byte, s string) ([]byte, bool) {
	bad := uint8(0)
	for ; len(s) >= 4; s = s[4:] {
		c, d, e, f := values[s[0]], values[s[1]], values[s[2]], values[s[3]]
		bad |= c | d | e | f
		b = append(b, c<<2|d>>4, d<<4|e>>2, e<<6|f)
	}
	switch len(s) {
	case 1:
		return b, false
	case 2:
		bad |= values[s[0]] | values[s[1]]
		b = append(b, values[s[0]]<<2|values[s[1]]>>4)
	case 3:
		bad |= values[s[0]] | values[s[1]] | values[s[2]]
		b = append(b, values[s[0]]<<2|values[s[1]]>>4, values[s[1]]<<4|values[s[2]]>>2)
	}
	return b, bad < 64
}
