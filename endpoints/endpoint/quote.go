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

// block writes text as quoted data. The head is trusted text, cleaned already.
func (r *renderer) block(head, text string) {
	r.write("[", r.boundary, " begin ", head, "]\n")
	for line := range strings.SplitSeq(r.strike(Clean(text)), "\n") {
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
	mark := lowerASCII(r.boundary)
	var b strings.Builder
	for lower := lowerASCII(s); ; {
		i := strings.Index(lower, mark)
		if i < 0 {
			return b.String() + s
		}
		b.WriteString(s[:i] + struck)
		s, lower = s[i+len(mark):], lower[i+len(mark):]
	}
}

// lowerASCII keeps the length, unlike strings.ToLower.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
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
