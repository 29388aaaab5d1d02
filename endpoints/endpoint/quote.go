package endpoint

import (
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
	i := indexFold(s, r.boundary)
	if i < 0 {
		return s
	}
	var b strings.Builder
	for ; i >= 0; i = indexFold(s, r.boundary) {
		b.WriteString(s[:i])
		b.WriteString(struck)
		s = s[i+len(r.boundary):]
	}
	b.WriteString(s)
	return b.String()
}

// indexFold is strings.Index without regard to the case of ASCII letters. It
// searches for a digit of mark first: digits have no case and are rare in prose.
func indexFold(s, mark string) int {
	k := strings.IndexAny(mark, "0123456789")
	if k < 0 {
		return strings.Index(lowerASCII(s), lowerASCII(mark))
	}
	for from := k; from < len(s); from++ {
		i := strings.IndexByte(s[from:], mark[k])
		if i < 0 {
			return -1
		}
		from += i
		start := from - k
		if start+len(mark) <= len(s) && lowerASCII(s[start:start+len(mark)]) == lowerASCII(mark) {
			return start
		}
	}
	return -1
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

func goodBoundary(s string) bool {
	if len(s) < minBoundary || len(s) > 128 {
		return false
	}
	return hasRun(s, len(s))
}

// hasRun reports whether s has n ASCII letters and digits in a row. It skips
// windows by their last byte, as Boyer and Moore's string search does.
func hasRun(s string, n int) bool {
	for end := n - 1; end < len(s); {
		i := end
		for i > end-n && alphanumeric(s[i]) {
			i--
		}
		if i == end-n {
			return true
		}
		end = i + n
	}
	return false
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// fallbackBoundary returns a boundary that depends on every byte of the prompt. A
// text cannot hold it, because it would have to hold its own digest.
func fallbackBoundary(p Prompt) string {
	return Digest(p)[:32]
}
