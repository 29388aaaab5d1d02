package relaytest

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf16"
)

// FindCanaries returns the canaries that haystack contains in one of these
// encodings: plain, reversed, UTF-16, hexadecimal in either case, base32 in
// lower case, and base64 in both alphabets at each alignment.
func FindCanaries(haystack []byte, canaries ...string) (found []string) {
	for _, c := range canaries {
		if slices.ContainsFunc(encodings(c), func(e []byte) bool { return bytes.Contains(haystack, e) }) {
			found = append(found, c)
		}
	}
	return found
}

func encodings(s string) [][]byte {
	b := []byte(s)
	back := bytes.Clone(b)
	slices.Reverse(back)
	var wide []byte
	for _, u := range utf16.Encode([]rune(s)) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	all := [][]byte{
		b, back, wide,
		[]byte(hex.EncodeToString(b)), []byte(strings.ToUpper(hex.EncodeToString(b))),
		[]byte(strings.ToLower(base32.StdEncoding.EncodeToString(b[:len(b)/5*5]))),
	}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			text := enc.EncodeToString(append(make([]byte, shift), b...))
			from := (shift*8 + 5) / 6 // the first character that depends only on b
			all = append(all, []byte(text[from:(shift+len(b))*8/6]))
		}
	}
	return all
}
