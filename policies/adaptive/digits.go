package adaptive

import "encoding/binary"

// Bytes are written as text six bits a digit, eight digits at once: package
// encoding/base64 looks every digit up, which took more than twice as long in
// the sandbox. The digits are the characters from '0' to 'o'; a backslash, which
// would have to be escaped, is written as 'p', and either is read as digit 44.

const (
	sixBytes    = 6
	eightDigits = 8
)

// each has a byte eight times.
const each = 0x0101010101010101

// Digit 44 would be the backslash; 'p' follows the last.
const (
	escaped  = '\\' - '0'
	insteads = 'p' - '\\'
)

// appendDigits appends b as digits, with zeros behind it up to a multiple of
// six bytes: who reads them has to know how many are meant.
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

// toDigits writes the lower 48 bits of x, lowest first.
func toDigits(x uint64) uint64 {
	x = x&0xffffff | x<<8&0xffffff_00000000
	x = x&0x00000fff_00000fff | x<<4&0x0fff0000_0fff0000
	x = x&0x003f003f003f003f | x<<2&0x3f003f003f003f00
	x += each * '0'
	backslash := ^((x ^ each*'\\') + each*0x7f) & (each * 0x80) >> 7
	return x + backslash*insteads
}

// appendBytes appends what digits stand for, and reports whether they are
// digits, by eights.
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

// fromDigits is toDigits backwards; odd is not 0 when there is another
// character.
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

// digits are b in text, for settings.
func digits(b []byte) string { return string(appendDigits(nil, b)) }

// unpack returns a reader of what is in a string.
func unpack(s string) reader {
	b, ok := appendBytes(nil, []byte(s))
	return reader{b: b, failed: !ok}
}
