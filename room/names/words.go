package names

import (
	"unicode"
	"unicode/utf8"
)

// A class is a set of runes. It has a table for single bytes, because nearly
// all of a text is ASCII.
type class struct {
	of   [256]uint8 // outside, inside or multibyte
	rest func(rune) bool
}

const (
	outside   = iota
	inside    // a member
	multibyte // the start of a rune of several bytes: rest decides
)

var (
	visible   = newClass(func(r rune) bool { return !unicode.IsSpace(r) })
	wordRunes = newClass(wordRune)
)

func newClass(rest func(rune) bool) *class {
	c := &class{rest: rest}
	for b := range c.of {
		switch {
		case b >= utf8.RuneSelf:
			c.of[b] = multibyte
		case rest(rune(b)):
			c.of[b] = inside
		}
	}
	return c
}

// nextRun returns the first run of runes of c that begins at or after at. ascii
// says that the run is certainly ASCII.
func nextRun(text string, at int, c *class) (from, to int, ascii bool) {
	for at < len(text) && c.of[text[at]] == outside {
		at++
	}
	for from = at; at < len(text) && c.of[text[at]] == inside; {
		at++
	}
	if at < len(text) && c.of[text[at]] == multibyte {
		from = c.seek(text, from, true)
		return from, c.seek(text, from, false), false
	}
	return from, at, true
}

// occur reports whether text has a rune of c.
func (c *class) occur(text string) bool {
	for at := range len(text) {
		switch c.of[text[at]] {
		case inside:
			return true
		case multibyte:
			return c.seek(text, at, true) < len(text)
		}
	}
	return false
}

// seek returns the place of the first rune at or after at whose membership in
// c is member, or the end of text.
func (c *class) seek(text string, at int, member bool) int {
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if c.rest(r) == member {
			return at
		}
		at += size
	}
	return at
}

// wordRune reports whether r is part of a word: its lower case is a letter or
// a number.
func wordRune(r rune) bool {
	r = unicode.ToLower(r)
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// appendLower appends s in lower case.
func appendLower(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case 'A' <= c && c <= 'Z':
			b = append(b, c+'a'-'A')
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, unicode.ToLower(r))
			i += size - 1
		}
	}
	return b
}
