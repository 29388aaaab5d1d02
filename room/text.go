package room

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func itoa[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// count renders n of a noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// fingerprint hashes a text so that case, space and punctuation do not count.
func fingerprint(text string) uint64 {
	var p print
	for i := 0; i < len(text); {
		if b := text[i]; b < utf8.RuneSelf {
			p.add(uint64(letters[b].as), uint(letters[b].bits))
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			p.flush()
			p.mix(uint64(unicode.ToLower(r)))
		}
		i += size
	}
	p.flush()
	return p.sum
}

// A print hashes eight letters at a time, as FNV-1a does one. Texts are not
// out to deceive it: who wants to repeat itself unnoticed changes a word.
type print struct {
	sum, word uint64
	bits      uint // of word that are in use
}

// add takes one letter of 8 bits, or nothing of none, without a branch that
// depends on which: in running text nobody could foretell it.
func (p *print) add(letter uint64, bits uint) {
	p.word = p.word<<(bits&63) | letter
	if p.bits += bits; p.bits == 64 {
		p.flush()
	}
}

func (p *print) flush() {
	p.mix(p.word)
	p.word, p.bits = 0, 0
}

func (p *print) mix(word uint64) {
	p.sum = (p.sum ^ word) * 0x9E3779B97F4A7C15
	p.sum ^= p.sum >> 29
}

// letters says what a fingerprint takes of each ASCII byte: letters in lower
// case and digits.
var letters = func() (t [utf8.RuneSelf]struct{ as, bits uint8 }) {
	for b := range t {
		if r := rune(b); unicode.IsLetter(r) || unicode.IsDigit(r) {
			t[b].as, t[b].bits = uint8(unicode.ToLower(r)), 8
		}
	}
	return t
}()

// FirstSentence returns the first sentence of text on one line, cut to max
// bytes at a character, with an ellipsis when anything is missing.
func FirstSentence(text string, max int) string {
	text = strings.TrimSpace(text)
	line := text[:min(len(text), 4*max+8)]
	if i := strings.IndexAny(line, "\n\r"); i >= 0 {
		line = line[:i]
	}
	for i := 0; i+1 < len(line); i++ {
		if (line[i] == '.' || line[i] == '!' || line[i] == '?') && line[i+1] == ' ' {
			line = line[:i+1]
			break
		}
	}
	line = strings.TrimSpace(line)
	if len(line) > max {
		line = cut(line, max-len("…")) + "…"
	} else if len(line) < len(text) {
		line += " …"
	}
	return line
}

// cut returns at most n bytes of s, whole characters only.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:max(n, 0)]
}
