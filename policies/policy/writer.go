package policy

import (
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// A Writer appends one JSON text and sets the commas. The zero Writer is
// ready; [NewWriter] appends to what is there. It does not check that what is
// written is a whole value: every Object needs its EndObject, every member its
// Key.
type Writer struct {
	b     []byte
	comma bool // a value precedes in the same bracket
}

// NewWriter returns a Writer that appends to dst.
func NewWriter(dst []byte) Writer { return Writer{b: dst} }

// Bytes returns everything written so far.
func (w *Writer) Bytes() []byte { return w.b }

func (w *Writer) value() {
	if w.comma {
		w.b = append(w.b, ',')
	}
	w.comma = true
}

// Object opens an object.
func (w *Writer) Object() { w.open('{') }

// EndObject closes the innermost object.
func (w *Writer) EndObject() { w.end('}') }

// Array opens an array.
func (w *Writer) Array() { w.open('[') }

// EndArray closes the innermost array.
func (w *Writer) EndArray() { w.end(']') }

func (w *Writer) open(c byte) {
	w.value()
	w.b = append(w.b, c)
	w.comma = false
}

func (w *Writer) end(c byte) {
	w.b = append(w.b, c)
	w.comma = true
}

// Key writes the name of the next member.
func (w *Writer) Key(k string) {
	w.value()
	w.b = append(appendString(w.b, k), ':')
	w.comma = false
}

// name is Key for a name that needs no escape.
func (w *Writer) name(k string) {
	w.value()
	w.b = append(append(append(w.b, '"'), k...), '"', ':')
	w.comma = false
}

// String writes s; bytes that are not UTF-8 become U+FFFD.
func (w *Writer) String(s string) {
	w.value()
	w.b = appendString(w.b, s)
}

// Int writes n.
func (w *Writer) Int(n int64) {
	w.value()
	w.b = strconv.AppendInt(w.b, n, 10)
}

// Float writes f in the shortest form that reads back as f, and null for what
// JSON cannot say: an infinity or not a number.
func (w *Writer) Float(f float64) {
	w.value()
	w.b = appendFloat(w.b, f)
}

// Bool writes true or false.
func (w *Writer) Bool(v bool) {
	w.value()
	w.b = strconv.AppendBool(w.b, v)
}

// Raw writes a value that is JSON already, null for nil.
func (w *Writer) Raw(j JSON) {
	w.value()
	if j == nil {
		w.b = append(w.b, "null"...)
		return
	}
	w.b = append(w.b, j...)
}

// Strings writes an array of strings, never null.
func (w *Writer) Strings(all []string) {
	w.Array()
	for _, s := range all {
		w.String(s)
	}
	w.EndArray()
}

// appendFloat writes numbers as ECMAScript and encoding/json do, so that every
// language's shortest form is the same bytes.
func appendFloat(dst []byte, f float64) []byte {
	if n := int64(f); float64(n) == f && n > -1e15 && n < 1e15 && (n != 0 || !math.Signbit(f)) {
		return strconv.AppendInt(dst, n, 10) // whole numbers are quick
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	if out, ok := appendShort(dst, f); ok {
		return out
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	if n := len(dst); format == 'e' && n >= 4 && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1] // e-09 is e-9
		dst = dst[:n-1]
	}
	return dst
}

// appendShort writes numbers of at most six decimals, as scores are, because
// package strconv is slow in the sandbox. A number of at most 15 digits has no
// shorter form that reads back as the same, so that the bytes are the same.
func appendShort(dst []byte, f float64) ([]byte, bool) {
	const unit = 1e6
	a := math.Abs(f)
	if a < 1/unit || a >= 1e9 {
		return dst, false
	}
	n := int64(float64(a*unit) + .5)
	if float64(n)/unit != a {
		return dst, false
	}
	if f < 0 {
		dst = append(dst, '-')
	}
	if n < unit {
		dst = append(dst, '0', '.')
	} else {
		dst = append(strconv.AppendInt(dst, n/unit, 10), '.')
		n %= unit
	}
	for rest := uint32(n); rest > 0; rest %= unit { // 32 bits are divided by multiplying
		rest *= 10
		dst = append(dst, byte('0'+rest/unit))
	}
	return dst, true
}

const hexDigits = "0123456789abcdef"

func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	start := 0
	for i := plainEnd(b, 0); i < len(s); i = plainEnd(b, i) {
		c := s[i]
		if c >= utf8.RuneSelf {
			v, n := utf8.DecodeRuneInString(s[i:])
			if v != utf8.RuneError || n > 1 {
				i += n
				continue
			}
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	if c < ' ' {
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
	return append(dst, "\ufffd"...)
}
