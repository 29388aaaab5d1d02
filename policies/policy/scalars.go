package policy

import (
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// Int reads a whole number. It fails if the number has a fraction or an
// exponent, or is out of the range of int64.
func (r *Reader) Int() int64 {
	r.peek()
	n, b, p := int64(0), r.b, r.p
	if p < len(b) && b[p] == '-' {
		p++
	}
	start := p
	for p < len(b) && b[p]-'0' <= 9 && p-start < 18 { // 18 digits cannot overflow
		n = n*10 + int64(b[p]-'0')
		p++
	}
	if p < len(b) && (b[p] == ',' || b[p] == '}') && p > start && (b[start] != '0' || p == start+1) {
		if start > r.p {
			n = -n
		}
		r.p = p
		return n
	}
	return r.int()
}

// int reads a number that is large or wrong.
func (r *Reader) int() int64 {
	s, whole := r.number()
	if r.err != nil {
		return 0
	}
	if !whole {
		r.Fail("expected a whole number")
		return 0
	}
	n, err := strconv.ParseInt(view(s), 10, 64)
	if err != nil {
		r.Fail("number out of range")
	}
	return n
}

// Float reads a number. It fails if a float64 cannot hold it.
func (r *Reader) Float() float64 {
	s, _ := r.number()
	if r.err != nil {
		return 0
	}
	f, err := strconv.ParseFloat(view(s), 64)
	if err != nil {
		r.Fail("number out of range")
		return 0
	}
	return f
}

// number reads a number and reports whether it is written as an integer.
func (r *Reader) number() (text []byte, whole bool) {
	r.peek()
	if r.err != nil {
		return nil, false
	}
	start := r.p
	r.accept('-', '-')
	if !r.accept('0', '0') && r.digits() == 0 {
		r.p = start
		r.Fail("expected a value of another kind")
		return nil, false
	}
	whole = true
	if r.accept('.', '.') {
		whole = false
		if r.digits() == 0 {
			r.Fail("expected a digit behind the point")
		}
	}
	if r.accept('e', 'E') {
		whole = false
		if !r.accept('+', '-') {
			r.accept('-', '-')
		}
		if r.digits() == 0 {
			r.Fail("expected a digit in the exponent")
		}
	}
	return r.b[start:r.p], whole
}

func (r *Reader) accept(a, b byte) bool {
	if r.p < len(r.b) && (r.b[r.p] == a || r.b[r.p] == b) {
		r.p++
		return true
	}
	return false
}

func (r *Reader) digits() (n int) {
	for r.p < len(r.b) && r.b[r.p]-'0' <= 9 {
		r.p++
		n++
	}
	return n
}

// String reads a string. The result shares memory with the text unless it
// holds an escape. Half of a surrogate pair becomes U+FFFD.
func (r *Reader) String() string {
	if r.peek() != '"' {
		r.Fail("expected a string")
		return ""
	}
	start := r.p + 1
	if end := plainEnd(r.b, start); end < len(r.b) && r.b[end] == '"' {
		r.p = end + 1
		return view(r.b[start:end])
	}
	escaped := r.skipString()
	if r.err != nil {
		return ""
	}
	s := r.b[start : r.p-1]
	if !escaped {
		return view(s)
	}
	if cap(r.spare)-len(r.spare) < len(s) {
		return view(unescape(make([]byte, 0, len(s)), s))
	}
	out := unescape(r.spare[len(r.spare):], s)
	r.spare = r.spare[:len(r.spare)+len(out)]
	return view(out)
}

// skipString checks a string and moves past it. It reports whether the string
// holds an escape.
func (r *Reader) skipString() (escaped bool) {
	if r.peek() != '"' {
		r.Fail("expected a string")
		return false
	}
	r.p++
	for {
		r.p = plainEnd(r.b, r.p)
		if r.p >= len(r.b) {
			break
		}
		switch c := r.b[r.p]; {
		case c == '"':
			r.p++
			return escaped
		case c == '\\':
			escaped = true
			if !r.escape() {
				r.Fail("an escape that JSON does not have")
				return escaped
			}
		case c < ' ':
			r.Fail("a control character in a string")
			return escaped
		default:
			c, n := utf8.DecodeRune(r.b[r.p:])
			if c == utf8.RuneError && n == 1 {
				r.Fail("not valid UTF-8")
				return escaped
			}
			r.p += n
		}
	}
	r.Fail("a string that does not end")
	return escaped
}

// plainEnd returns the index, from i on, of the first byte that is not a plain
// ASCII character of a string: a quote, a backslash, a control character, a
// byte of a longer character, or the end of b. It tests eight bytes at a time:
// otherwise the texts of a large input exceed the fuel of a policy.
func plainEnd(b []byte, i int) int {
	for i+8 <= len(b) {
		if special := special8(load8(b[i : i+8])); special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
		i += 8
	}
	for i < len(b) && b[i] >= ' ' && b[i] < utf8.RuneSelf && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// load8 returns the first eight bytes of b as a little-endian word. The compiler
// makes it one load. (Package encoding/binary would bring reflect.)
func load8(b []byte) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// special8 returns a word whose lowest set bit is in the first byte of x that
// is not plain, or 0. In Hacker's Delight (Warren, section 6-1), a byte is 0 if
// subtracting 1 borrows its high bit.
func special8(x uint64) uint64 {
	const low, high = 0x0101010101010101, 0x8080808080808080
	quote, backslash := x^low*'"', x^low*'\\'
	return (x | (x - low*' ') | (quote - low) | (backslash - low)) & high
}

// escape moves past an escape sequence and reports whether it is valid.
func (r *Reader) escape() bool {
	if r.p+1 >= len(r.b) {
		return false
	}
	switch r.b[r.p+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		r.p += 2
		return true
	case 'u':
		if hex4(r.b[r.p+2:]) < 0 {
			return false
		}
		r.p += 6
		return true
	}
	return false
}

// unescape appends the decoded content of a string that skipString has
// checked. The result is not longer than s.
func unescape(out, s []byte) []byte {
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			end := plainEnd(s, i)
			for end < len(s) && s[end] != '\\' {
				end = plainEnd(s, end+1)
			}
			out = append(out, s[i:end]...)
			i = end
			continue
		}
		c := s[i+1]
		i += 2
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			v, n := codepoint(s[i-2:])
			out = utf8.AppendRune(out, v)
			i += n - 2
			continue
		}
		out = append(out, c)
	}
	return out
}

// codepoint decodes the \u sequence at the start of s, with both halves of a
// surrogate pair, and returns its length.
func codepoint(s []byte) (rune, int) {
	v := hex4(s[2:])
	if v < 0xd800 || v >= 0xe000 {
		return v, 6
	}
	if v < 0xdc00 && len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if low := hex4(s[8:]); low >= 0xdc00 && low < 0xe000 {
			return (v-0xd800)<<10 | (low - 0xdc00) + 0x10000, 12
		}
	}
	return utf8.RuneError, 6
}

// hex4 reads four hexadecimal digits. It returns -1 if they are invalid.
func hex4(s []byte) rune {
	if len(s) < 4 {
		return -1
	}
	v := rune(0)
	for _, c := range s[:4] {
		switch {
		case c-'0' <= 9:
			v = v<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			v = v<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return v
}
