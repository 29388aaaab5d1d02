package endpoint

import (
	"encoding/json"
	"strconv"
	"strings"
)

const (
	minBoundary = 16 // letters and digits; 80 bits and more when random
	quoteMark   = "| "
	struck      = "[forged mark]" // too short to complete a boundary
)

// block writes text as quoted data. The head is trusted text. Both are cleaned already.
func (r *renderer) block(head, text string) {
	r.begin()
	r.write(head)
	r.quote(text)
}

// begin writes the first line of a block up to its head.
func (r *renderer) begin() { r.write("[", r.boundary, " begin ") }

// quote ends the head of a block and writes its text, which is cleaned already.
func (r *renderer) quote(text string) {
	r.write("]\n")
	for line := range strings.SplitSeq(r.strike(text), "\n") {
		r.write(quoteMark, line, "\n")
	}
	r.write("[", r.boundary, " end]\n")
}

func (r *renderer) write(parts ...string) {
	for _, s := range parts {
		r.b.WriteString(s)
	}
}

// indented writes a text of the room's own host. Its lines do not begin at the
// column of headings and boundaries.
func (r *renderer) indented(text, none string) {
	text = strings.TrimSpace(r.strike(Clean(text)))
	if text == "" {
		text = none
	}
	for line := range strings.SplitSeq(text, "\n") {
		r.b.WriteString(strings.TrimRight("  "+line, " \t"))
		r.b.WriteByte('\n')
	}
}

// inline returns s in a form that fits within a line.
func (r *renderer) inline(s string, limit int) string { return r.strike(CleanLine(s, limit)) }

// quoted is inline between quotes that s cannot close.
func (r *renderer) quoted(s string) string { return strconv.Quote(r.inline(s, nameRunes)) }

// strike replaces every occurrence of the boundary, in any case.
func (r *renderer) strike(s string) string {
	i := r.mark.index(s)
	if i < 0 {
		return s
	}
	var b strings.Builder
	for ; i >= 0; i = r.mark.index(s) {
		b.WriteString(s[:i] + struck)
		s = s[i+len(r.mark.text):]
	}
	return b.String() + s
}

// A mark finds a text in others, without regard to the case of ASCII letters, by Horspool's
// algorithm (R. N. Horspool, Practical fast searching in strings, Software: Practice and
// Experience 10, 1980). It seldom reads each byte.
type mark struct {
	text string     // lower case, at most 128 bytes
	skip [256]uint8 // how far the text may be moved on when a byte is under its end
}

func newMark(text string) (m mark) {
	m.text = lowerASCII(text)
	for c := range m.skip {
		m.skip[c] = uint8(len(m.text))
	}
	for i := range len(m.text) - 1 {
		c, left := m.text[i], uint8(len(m.text)-1-i)
		m.skip[c] = left
		if 'a' <= c && c <= 'z' {
			m.skip[c-'a'+'A'] = left
		}
	}
	return m
}

// index returns the first place of the text in s, or -1.
func (m *mark) index(s string) int {
	n := len(m.text)
	for end := n; end <= len(s); end += int(m.skip[s[end-1]]) {
		if lower(s[end-1]) == m.text[n-1] && lowerASCII(s[end-n:end]) == m.text {
			return end - n
		}
	}
	return -1
}

// lowerASCII keeps the length, unlike strings.ToLower.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// goodBoundary reports whether s is long enough, and only ASCII letters and
// digits.
func goodBoundary(s string) bool {
	other := func(r rune) bool { return !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') }
	return len(s) >= minBoundary && len(s) <= 128 && !strings.ContainsFunc(s, other)
}

// fallbackBoundary returns a boundary that depends on every part of the prompt
// but its time-out. A text cannot hold it, because it would have to hold its own
// digest.
func fallbackBoundary(p Prompt) string {
	p.Text, p.Timeout = "", 0
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // cannot happen: the parts are strings, numbers and lists
	}
	return Digest(string(b))[:32]
}
