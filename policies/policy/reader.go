package policy

import (
	"strconv"
	"unsafe"
)

// maxDepth bounds how deep the objects and arrays of a text may nest.
const maxDepth = 64

// A DecodeError reports a JSON text that is invalid, or not of the expected
// form.
type DecodeError struct {
	Field  string // path of the value, such as "scores[2].agent"; empty if unknown
	Offset int    // in bytes, where the fault was found
	What   string // the fault, as a phrase
}

// Error returns place and fault in one line.
func (e *DecodeError) Error() string {
	s := "byte " + strconv.Itoa(e.Offset) + ": "
	if e.Field != "" {
		s += e.Field + ": "
	}
	return s + e.What
}

// A Reader reads a JSON text value by value, without reflection and almost
// without allocations. It keeps the first error: later calls return zero
// values, loops end, and [Reader.Err] returns the error. A caller therefore
// reads to the end and checks once.
//
//	for r.Object(); r.More(); {
//		switch r.Key() {
//		case "limit":
//			limit = r.Int()
//		default:
//			r.Skip()
//		}
//	}
//
// A Reader accepts JSON as RFC 8259 defines it, in valid UTF-8 and at most 64
// levels deep. Strings without an escape share memory with the text, so the
// text must not change while they are in use. A Reader is not safe for
// concurrent use.
type Reader struct {
	b     []byte
	p     int
	first bool // after an opening bracket: no comma is expected
	depth int
	kinds uint64 // one bit for each open bracket, the innermost lowest: 1 is an object
	err   *DecodeError
	spare []byte // holds decoded strings with escapes while there is room
}

// NewReader returns a Reader at the start of text.
func NewReader(text []byte) Reader { return Reader{b: text} }

// Err returns the first error, or nil.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// Fail makes what the error of the Reader unless it has one already.
func (r *Reader) Fail(what string) {
	if r.err == nil {
		r.err = &DecodeError{Offset: r.p, What: what}
		r.b = r.b[:0] // nothing matches after an error, so single reads need not check for it
	}
}

// Offset returns the number of bytes read.
func (r *Reader) Offset() int { return r.p }

// peek skips white space and returns the next byte. It returns 0 at the end
// and after an error.
func (r *Reader) peek() byte {
	for r.p < len(r.b) {
		switch c := r.b[r.p]; c {
		case ' ', '\n', '\t', '\r':
			r.p++
		default:
			return c
		}
	}
	return 0
}

func (r *Reader) open(c byte, kind uint64, what string) {
	if r.peek() != c {
		r.Fail(what)
		return
	}
	if r.depth++; r.depth > maxDepth {
		r.Fail("nested deeper than 64 levels")
		return
	}
	r.kinds = r.kinds<<1 | kind
	r.p++
	r.first = true
}

// Object enters an object; [Reader.More] and [Reader.Key] walk its members.
func (r *Reader) Object() { r.open('{', 1, "expected an object") }

// Array enters an array; [Reader.More] walks its elements.
func (r *Reader) Array() { r.open('[', 0, "expected an array") }

// More reports whether the innermost open object or array has another member.
// It leaves the object or array at its end.
func (r *Reader) More() bool {
	c := r.peek()
	if r.err != nil {
		return false
	}
	end := byte(']')
	if r.kinds&1 == 1 {
		end = '}'
	}
	if c == end && r.depth > 0 {
		r.p++
		r.depth--
		r.kinds >>= 1
		r.first = false
		return false
	}
	if !r.first {
		if c != ',' {
			r.Fail("expected a comma or a closing bracket")
			return false
		}
		r.p++
	}
	r.first = false
	return true
}

// Key reads the name of the next member and the colon after it.
func (r *Reader) Key() string {
	if r.kinds&1 == 0 || r.peek() != '"' {
		r.Fail("expected a key")
		return ""
	}
	k := r.String()
	if r.peek() != ':' {
		r.Fail("expected a colon")
		return ""
	}
	r.p++
	return k
}

// End checks that nothing but white space is left.
func (r *Reader) End() {
	r.peek()
	if r.p < len(r.b) {
		r.Fail("something follows the value")
	}
}

// Bool reads true or false.
func (r *Reader) Bool() bool {
	if r.literal("true") {
		return true
	}
	if !r.literal("false") {
		r.Fail("expected true or false")
	}
	return false
}

// Null reads null if it comes next, and reports whether it did.
func (r *Reader) Null() bool { return r.literal("null") }

func (r *Reader) literal(s string) bool {
	if r.peek() != s[0] || r.p+len(s) > len(r.b) || string(r.b[r.p:r.p+len(s)]) != s {
		return false
	}
	r.p += len(s)
	return true
}

// Raw reads any value and returns its text, which shares memory with the
// text of the Reader.
func (r *Reader) Raw() JSON {
	r.peek()
	start := r.p
	r.Skip()
	if r.err != nil {
		return nil
	}
	return JSON(r.b[start:r.p:r.p])
}

// Skip reads any value and ignores it.
func (r *Reader) Skip() {
	switch c := r.peek(); c {
	case '{':
		for r.Object(); r.More(); r.Skip() {
			r.Key()
		}
	case '[':
		for r.Array(); r.More(); {
			r.Skip()
		}
	case '"':
		r.skipString()
	case 't', 'f':
		r.Bool()
	case 'n':
		if !r.Null() {
			r.Fail("expected null")
		}
	default:
		r.number()
	}
}

// view returns b as a string that shares its memory.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Strings reads an array of strings.
func (r *Reader) Strings() []string { return r.appendStrings(nil) }

func (r *Reader) appendStrings(dst []string) []string {
	for r.Array(); r.More(); {
		dst = append(dst, r.String())
	}
	return dst
}

// Unknown fails because the key k is unknown. Policies use it to read their
// settings: otherwise a misspelt key would silently mean the default.
func (r *Reader) Unknown(k string) { r.Fail("unknown key " + strconv.Quote(clip(k, 40))) }
