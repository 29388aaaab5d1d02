package adaptive

import (
	"unicode"
	"unicode/utf8"
)

// A form is a way to write a name: words in lower case with one space between.
type form struct {
	text  []byte
	who   int  // index into the names
	whole bool // all of the name, not one word of it
}

// appendPlain appends s in lower case, its words as they stand.
func appendPlain(out []byte, s string) []byte {
	for at := wordStart(s, 0); at < len(s); at = wordStart(s, at) {
		if len(out) > 0 {
			out = append(out, ' ')
		}
		end := wordEnd(s, at)
		out = appendLower(out, s[at:end])
		at = end
	}
	return out
}

// appendCamel appends s in lower case with camelCase apart, and returns how
// many words it has.
func appendCamel(out []byte, s string) (form []byte, words int) {
	for i := 0; i < len(s); i++ {
		if !startsWord(s, i) {
			continue
		}
		if words++; words > 1 {
			out = append(out, ' ')
		}
		end := wordOf(s, i)
		out = appendLower(out, s[i:end])
		i = end - 1
	}
	return out, words
}

func appendLower(out []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			return appendLowerRunes(out, s[i:])
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		out = append(out, c)
	}
	return out
}

func appendLowerRunes(out []byte, s string) []byte {
	for _, c := range s {
		out = utf8.AppendRune(out, unicode.ToLower(c))
	}
	return out
}

// distinctive reports whether one word of a name, in lower case, may stand for
// it: three letters or more, and no word that says nothing about whom it means.
func distinctive(word []byte) bool {
	letters := 0
	for _, c := range string(word) {
		if !unicode.IsLetter(c) {
			return false
		}
		letters++
	}
	switch string(word) {
	case "the", "and", "for", "of", "member", "unknown", "agent", "assistant", "expert", "user", "bot", "speaker", "mr", "mrs", "ms", "dr":
		return false
	}
	return letters >= 3
}
