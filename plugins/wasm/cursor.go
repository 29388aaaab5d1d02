package wasm

import (
	"fmt"
	"unicode/utf8"
)

// A cursor reads a part of a module. It keeps its first error, after which all
// reads return zeros. Loops must check failed.
type cursor struct {
	b    []byte
	p    int
	base int // of b in the module
	fn   int // whose body b is; -1: none
	err  *Error
}

func (c *cursor) fail(k Kind, format string, args ...any) {
	if c.err == nil {
		c.err = &Error{Kind: k, What: fmt.Sprintf(format, args...), At: c.base + c.p, Func: c.fn}
	}
}

func (c *cursor) failed() bool { return c.err != nil }

// failure returns the error as an interface, which is nil without one.
func (c *cursor) failure() error {
	if c.err != nil {
		return c.err
	}
	return nil
}

func (c *cursor) more() bool { return c.err == nil && c.p < len(c.b) }

func (c *cursor) byte() byte {
	if c.err != nil || c.p >= len(c.b) {
		c.fail(Malformed, "unexpected end")
		return 0
	}
	c.p++
	return c.b[c.p-1]
}

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (c *cursor) u32() uint32 {
	if c.err == nil && c.p < len(c.b) && c.b[c.p] < 0x80 {
		c.p++
		return uint32(c.b[c.p-1])
	}
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		b := c.byte()
		v |= uint64(b&0x7f) << shift
		switch {
		case b >= 0x80:
		case c.failed():
			return 0
		case v <= 0xffffffff:
			return uint32(v)
		}
	}
	c.fail(Malformed, "number too long")
	return 0
}

// signed skips a signed LEB128 number of at most size bytes. The engine checks its
// last bits.
func (c *cursor) signed(size int) {
	for range size {
		if c.byte() < 0x80 {
			return
		}
	}
	c.fail(Malformed, "number too long")
}

func (c *cursor) take(n uint32) []byte {
	if c.err != nil || uint64(n) > uint64(len(c.b)-c.p) {
		c.fail(Malformed, "unexpected end")
		return nil
	}
	c.p += int(n)
	return c.b[c.p-int(n) : c.p]
}

// vec reads a length and as many bytes.
func (c *cursor) vec() []byte { return c.take(c.u32()) }

// sub reads a length and returns a cursor over as many bytes.
func (c *cursor) sub() cursor {
	b := c.vec()
	return cursor{b: b, base: c.base + c.p - len(b), fn: c.fn, err: c.err}
}

// count reads the length of a list, which is 0 after an error. It fails above limit, or
// when the remaining bytes cannot hold entries of least bytes each. A least of 0 is not
// checked.
func (c *cursor) count(what string, limit, least int) int {
	n := c.u32()
	if c.err == nil && uint64(n) > uint64(limit) {
		c.fail(Exceeds, "%d %s; at most %d", n, what, limit)
		return 0
	}
	if c.err == nil && int(n)*least > len(c.b)-c.p {
		c.fail(Malformed, "%d %s do not fit into what follows", n, what)
		return 0
	}
	return int(n)
}

// index reads an index below n.
func (c *cursor) index(what string, n int) uint32 {
	i := c.u32()
	if c.err == nil && uint64(i) >= uint64(n) {
		c.fail(Malformed, "no %s %d: there are %d", what, i, n)
	}
	return i
}

func (c *cursor) name(limit int) string {
	b := c.vec()
	switch {
	case len(b) > limit:
		c.fail(Exceeds, "a name of %d bytes; at most %d", len(b), limit)
	case !utf8.Valid(b):
		c.fail(Malformed, "a name that is not UTF-8")
	default:
		return string(b)
	}
	return ""
}

// end fails unless everything was read.
func (c *cursor) end(what string) {
	if c.err == nil && c.p != len(c.b) {
		c.fail(Malformed, "%d bytes too many in the %s", len(c.b)-c.p, what)
	}
}
