package policy

import (
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// A Writer appends one JSON text and writes its commas. The zero Writer is
// ready to use; [NewWriter] appends to existing bytes. A Writer does not check
// the structure: every Object needs its EndObject, every member its Key. It is
// not safe for concurrent use.
type Writer struct {
	b     []byte
	comma bool // the next value needs a comma before it
}

// NewWriter returns a Writer that appends to dst.
func NewWriter(dst []byte) Writer { return Writer{b: dst} }

// Bytes returns the bytes of dst and all that was written.
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

// String writes s. Invalid UTF-8 becomes U+FFFD.
func (w *Writer) String(s string) {
	w.value()
	w.b = appendString(w.b, s)
}

// Int writes n.
func (w *Writer) Int(n int64) {
	w.value()
	w.b = strconv.AppendInt(w.b, n, 10)
}

// Float writes f in the shortest form that reads back as f. It writes null for
// an infinity and for NaN, which JSON does not have.
func (w *Writer) Float(f float64) {
	w.value()
	w.b = appendFloat(w.b, f)
}

// Bool writes true or false.
func (w *Writer) Bool(v bool) {
	w.value()
	w.b = strconv.AppendBool(w.b, v)
}

// Raw writes j, which is a JSON value, and null for nil.
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

// appendFloat writes f in the form of ECMAScript (Number::toString) and of
// encoding/json, so that policies in all languages write the same bytes.
func appendFloat(dst []byte, f float64) []byte {
	if n := int64(f); float64(n) == f && n > -1e15 && n < 1e15 && (n != 0 || !math.Signbit(f)) {
		return strconv.AppendInt(dst, n, 10)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	if n := len(dst); format == 'e' && n >= 4 && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1] // e-09 becomes e-9
		dst = dst[:n-1]
	}
	return dst
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
