package policy

import (
	"math/bits"
	"unsafe"
)

// window is the number of bytes that members reads at a time. It holds the longest
// key, a short value and the byte after it.
const window = 40

// members reads the members of an object that have the order of fields, as a host
// writes them, and short values. Fields may be left out. It returns the index of
// the field whose key it has read and whose value comes next, or len(fields) if it
// cannot read the next key. ended reports that the object ends after a value.
//
// Decoding is most of the work of most policies, and calls, loops and checks of
// bounds are slow in Go's WebAssembly. Therefore members compares keys and reads
// values in words of eight bytes, and leaves every other text to [Reader].
func (d *inputDecoder) members(fields []field, next int, to unsafe.Pointer) (i int, ended bool) {
	rest := d.b[d.p:]
	for i = next; i < len(fields); i++ {
		if len(rest) < window {
			i = len(fields)
			break
		}
		w, f := (*[window]byte)(rest), &fields[i]
		if load8(w[:])&f.mask != f.start {
			continue
		}
		n := f.size & 31 // the compiler omits checks of bounds
		if n > 8 && (load8(w[(n-8)&31:]) != f.end || n > 16 && load8(w[8:]) != f.middle) {
			continue
		}
		var size uint // of the value
		switch x, at := load8(w[n:]), unsafe.Add(to, f.offset); f.kind {
		case stringField:
			if size = shortString(x); size > 0 {
				*(*string)(at) = view(w[n+1 : n+size-1])
			}
		case intField:
			var v int64
			v, size = shortInt(x)
			*(*int)(at) = int(v)
		case int64Field:
			*(*int64)(at), size = shortInt(x)
		case boolField:
			size = boolSize(x)
			*(*bool)(at) = size == 4
		case stringsField:
			if list := (*[]string)(at); x&0xffff == '['|']'<<8 {
				*list, size = (*list)[:0], 2
			}
		}
		c := w[n+size]
		if size == 0 || c != ',' && c != '}' {
			rest = rest[n:]
			break
		}
		if c == '}' {
			rest, ended = rest[n+size:], true
			break
		}
		rest = rest[n+size+1:]
	}
	d.p = len(d.b) - len(rest)
	return i, ended
}

// shortString returns the size, with quotes, of the string at the start of x. It
// returns 0 if the string is longer than x or has other characters than plain
// ASCII.
func shortString(x uint64) uint {
	n := uint(bits.TrailingZeros64(special8(x>>8))) / 8
	if byte(x) != '"' || n > 6 || byte(x>>(8*n+8)) != '"' {
		return 0
	}
	return n + 2
}

// shortInt returns the whole number at the start of x and its size. The size is 0
// if there is none, or if it has a sign or more than seven digits.
func shortInt(x uint64) (v int64, size uint) {
	digits := x ^ 0x3030303030303030 // a digit is at most 9, another byte is larger
	size = uint(bits.TrailingZeros64(((digits+0x7676767676767676)|digits)&0x8080808080808080)) / 8
	if size == 0 || size > 7 || size > 1 && byte(x) == '0' {
		return 0, 0
	}
	// Join pairs of digits, then of these, and so on. Lemire, "Quickly parsing
	// eight digits" (2018).
	digits <<= 64 - 8*size
	digits = digits * 2561 >> 8 & 0x00ff00ff00ff00ff
	digits = digits * 6553601 >> 16 & 0x0000ffff0000ffff
	return int64(digits * 42949672960001 >> 32), size
}

// boolSize returns the size of true or false at the start of x, or 0.
func boolSize(x uint64) uint {
	switch {
	case x&(1<<40-1) == 'f'|'a'<<8|'l'<<16|'s'<<24|'e'<<32:
		return 5
	case x&(1<<32-1) == 't'|'r'<<8|'u'<<16|'e'<<24:
		return 4
	}
	return 0
}
