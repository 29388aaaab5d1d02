package adaptive

import (
	"encoding/binary"
	"math"
)

// The state is a sequence of little-endian numbers of fixed width, so that many
// numbers are encoded without a branch for each. It is written as text.

// A pen writes bytes.
type encoder struct{ b []byte }

func (p *encoder) byte(n int)      { p.b = append(p.b, byte(n)) }
func (p *encoder) word(n int)      { p.b = binary.LittleEndian.AppendUint16(p.b, uint16(n)) }
func (p *encoder) number(n uint32) { p.b = binary.LittleEndian.AppendUint32(p.b, n) }

// more appends n bytes and returns them.
func (p *encoder) more(n int) []byte {
	start := len(p.b)
	if cap(p.b)-start < n {
		p.b = append(make([]byte, 0, 2*cap(p.b)+n), p.b...)
	}
	p.b = p.b[:start+n]
	return p.b[start:]
}

// parts encodes numbers in parts of 1/unit.
func (p *encoder) parts(all []float64, unit float64) {
	b := p.more(4 * len(all))
	for i, f := range all {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(int(f*unit)))
	}
}

// A reader reads the bytes of an encoder. An invalid number sets failed;
// after that all numbers are 0.
type decoder struct {
	b      []byte
	p      int
	failed bool
}

// none is the content that a failed decoder reads.
var none [256]byte

func (r *decoder) fail() { r.failed, r.p = true, len(r.b) }

// take returns the next n bytes, at most 256.
func (r *decoder) take(n int) []byte {
	p := r.p
	if len(r.b)-p < n {
		r.fail()
		return none[:n]
	}
	r.p = p + n
	return r.b[p : p+n]
}

func (r *decoder) word() int      { return int(binary.LittleEndian.Uint16(r.take(2))) }
func (r *decoder) number() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }

// count decodes a number that is small enough for sums not to overflow.
func (r *decoder) count() int {
	n := r.number()
	if n > maxNumber {
		r.fail()
		return 0
	}
	return int(n)
}

// maxNumber is the largest number that count accepts.
const maxNumber = 1 << 30

// below decodes a byte that is less than n.
func (r *decoder) below(n int) int {
	x := int(r.take(1)[0])
	if x >= n {
		r.fail()
		return 0
	}
	return x
}

// parts decodes the numbers that encoder.parts wrote.
func (r *decoder) parts(all []float64, unit float64) {
	b := r.take(4 * len(all))
	for i := range all {
		all[i] = float64(int32(binary.LittleEndian.Uint32(b[4*i:]))) * unit
	}
}

// varint decodes a variable-length number of at most most.
func (r *decoder) varint(most uint64) uint64 {
	x, n := binary.Uvarint(r.b[r.p:])
	if n <= 0 || x > most {
		r.fail()
		return 0
	}
	r.p += n
	return x
}

// done reports whether all bytes were read and valid.
func (r *decoder) done() bool { return !r.failed && len(r.b)-r.p < sixBytes }

// within16 rounds x towards 0 and clamps it to the range of int16.
func within16(x float64) int { return min(max(int(x), math.MinInt16), math.MaxInt16) }

// Bytes are written as text with six bits a digit. Eight digits are converted at
// a time, in less than half the time of encoding/base64 in the sandbox. The
// digits are the characters from '0' to 'o'. A backslash, which JSON escapes, is
// written as 'p'; both are read as digit 44.

const (
	sixBytes    = 6
	eightDigits = 8
)

// each multiplies a byte into all eight bytes of a word.
const each = 0x0101010101010101

// Digit 44 would be a backslash; 'p' is the character after the last digit.
const (
	escaped          = '\\' - '0'
	substituteOffset = 'p' - '\\'
)

// appendDigits appends b as digits, padded with zeros to a multiple of six bytes.
// The decoder must know the length of the content.
func appendDigits(to, b []byte) []byte {
	for p := 0; p < len(b); p += sixBytes {
		var x uint64
		if p+8 <= len(b) {
			x = binary.LittleEndian.Uint64(b[p:])
		} else {
			for i, c := range b[p:] {
				x |= uint64(c) << (8 * i)
			}
		}
		to = binary.LittleEndian.AppendUint64(to, toDigits(x))
	}
	return to
}

// toDigits returns the lower 48 bits of x as eight digits, the lowest first.
func toDigits(x uint64) uint64 {
	x = x&0xffffff | x<<8&0xffffff_00000000
	x = x&0x00000fff_00000fff | x<<4&0x0fff0000_0fff0000
	x = x&0x003f003f003f003f | x<<2&0x3f003f003f003f00
	x += each * '0'
	backslash := ^((x ^ each*'\\') + each*0x7f) & (each * 0x80) >> 7
	return x + backslash*substituteOffset
}

// appendBytes appends the bytes of digits. It reports false if a character is
// not a digit or the length is not a multiple of eight.
func appendBytes(to, digits []byte) ([]byte, bool) {
	bad := uint64(len(digits) % eightDigits)
	for p := 0; p+eightDigits <= len(digits); p += eightDigits {
		x, odd := fromDigits(binary.LittleEndian.Uint64(digits[p:]))
		bad |= odd
		to = binary.LittleEndian.AppendUint64(to, x)
		to = to[:len(to)-(eightDigits-sixBytes)]
	}
	return to, bad == 0
}

// fromDigits is the inverse of toDigits; odd is not 0 if a character is not a
// digit.
func fromDigits(x uint64) (bits, odd uint64) {
	odd = x & (each * 0x80)
	x = x | each*0x80 - each*'0' // no byte borrows from the next
	odd |= ^x & (each * 0x80)
	x &= each * 0x7f
	instead := x & (each * 64) >> 6
	odd |= x & (instead * 63)
	x = x&(each*63) + instead*escaped
	x = x&0x003f003f003f003f | x>>2&0x0fc00fc00fc00fc0
	x = x&0x00000fff00000fff | x>>4&0x00fff00000fff000
	return x&0xffffff | x>>8&0xffffff000000, odd
}

// digits returns b as text, for the settings.
func digits(b []byte) string { return string(appendDigits(nil, b)) }

// newDecoder returns a decoder of the bytes in a text of digits.
func newDecoder(s string) decoder {
	b, ok := appendBytes(nil, []byte(s))
	return decoder{b: b, failed: !ok}
}
