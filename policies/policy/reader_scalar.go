package policy

import (
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// Int reads a number that is written without fraction or exponent.
func (r *Reader) Int() int64 {
	b, p := r.b, r.p
	if p+8 <= len(b) {
		// A number of at most seven digits, which nearly every one is: the first
		// byte that is no digit ends it, and three multiplications weigh the rest.
		w := load8(b, p)
		past := (w ^ lowBits*'0') + lowBits*(0x80-10)
		past = (past | w) & highBits
		n := bits.TrailingZeros64(past) / 8
		if end := p + n; n > 0 && n < 8 && (n == 1 || b[p] != '0') && (b[end] == ',' || b[end] == '}') {
			r.p = end
			return digits8((w ^ lowBits*'0') << (64 - n*8))
		}
	}
	return r.int()
}

// digits8 adds up eight digits, the first in the lowest byte.
func digits8(w uint64) int64 {
	w = w*10 + w>>8
	const pairs = 0x000000ff000000ff
	return int64((w&pairs*(100+1000000<<32) + w>>16&pairs*(1+10000<<32)) >> 32)
}

func (r *Reader) int() int64 {
	s, whole := r.number()
	if r.err != nil {
		return 0
	}
	if !whole {
		r.Fail("expected a whole number")
		return 0
	}
	// Nineteen bytes cannot overflow, and nearly every number is shorter.
	if len(s) >= 19 {
		n, err := strconv.ParseInt(view(s), 10, 64)
		if err != nil {
			r.Fail("number out of range")
		}
		return n
	}
	n, digits := int64(0), s
	if s[0] == '-' {
		digits = s[1:]
	}
	for _, c := range digits {
		n = n*10 + int64(c-'0')
	}
	if s[0] == '-' {
		return -n
	}
	return n
}

// Float reads a number that a float64 can hold.
func (r *Reader) Float() float64 {
	if f, ok := r.decimal(); ok {
		return f
	}
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

// decimal reads a number without a sign that begins with one digit and a point,
// as shares do, and has at most 15 digits. Those and the power of ten are exact,
// so that their quotient is the nearest float64 there is.
func (r *Reader) decimal() (f float64, ok bool) {
	const most = 15
	b, p := r.b, r.p
	if p+2+most > len(b) || b[p]-'0' > 9 || b[p+1] != '.' {
		return 0, false
	}
	n, tens, i := int64(b[p]-'0'), int64(1), p+2
	for ; i < p+1+most; i++ {
		c := b[i] - '0'
		if c > 9 {
			break
		}
		n, tens = n*10+int64(c), tens*10
	}
	if c := b[i]; i == p+2 || c != ',' && c != '}' && c != ']' {
		return 0, false
	}
	r.p = i
	return float64(n) / float64(tens), true
}

// number scans one number and reports whether it is written as an integer.
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

// String reads a string. It shares the text's memory unless it holds an
// escape. Half a surrogate pair becomes U+FFFD.
func (r *Reader) String() string {
	b, p := r.b, r.p
	if p < len(b) && b[p] == '"' {
		if i := plainEnd(b, p+1); i < len(b) && b[i] == '"' {
			r.p = i + 1
			return view(b[p+1 : i])
		}
	}
	return r.string()
}

func (r *Reader) string() string {
	r.peek()
	start := r.p + 1
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

// skipString reads a string, checks it, and reports whether it holds an
// escape.
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

// plainEnd returns the first place from i on that is neither an ASCII
// character nor free of a meaning inside a string: the end of b, a quote, a
// backslash, a control character or a byte of a longer character.
func plainEnd(b []byte, i int) int {
	for i+16 <= len(b) {
		if odd8(load8(b, i))|odd8(load8(b, i+8)) != 0 {
			break
		}
		i += 16
	}
	for i+8 <= len(b) {
		if odd := odd8(load8(b, i)); odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
		i += 8
	}
	for i < len(b) && b[i] >= ' ' && b[i] < utf8.RuneSelf && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// load8 reads the eight bytes of b from i on, which the compiler makes one load
// of.
func load8(b []byte, i int) uint64 {
	b = b[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// odd8 marks, with its high bit, the first of eight bytes that is not plain; what
// it says of later bytes is not exact. A byte is under n when subtracting n
// borrows its high bit; a byte is c when it is under 1 after an exclusive or
// with c. Bytes above 0x7f, which would spoil that, are not plain themselves.
func odd8(x uint64) uint64 {
	quote, slash := x^lowBits*'"', x^lowBits*'\\'
	return (x | (x - lowBits*' ') | (quote - lowBits) | (slash - lowBits)) & highBits
}

// escape passes one escape sequence and reports whether it is one.
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

// unescape appends the inside of a string that skipString has checked. It does
// not become longer.
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

// codepoint decodes the \u sequence that s begins with, both halves of a
// pair, and returns its length.
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

// hex4 reads four hexadecimal digits; -1 when they are not.
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
