package timeline

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/rivo/uniseg"

	"github.com/folkmoot/moot/internal/term"
)

// A Style is the style of lines. The zero Style is plain text, 80 columns wide.
type Style struct {
	Color bool // SGR sequences; false where NO_COLOR is set
	Width int  // columns; 0 is 80
}

// Bounds of the width that text is wrapped to. Longer lines are hard to read,
// shorter ones cannot be laid out.
const (
	defaultWidth = 80
	minWidth     = 24
	maxWidth     = 110
)

func (s Style) width() int {
	if s.Width <= 0 {
		return defaultWidth
	}
	return min(max(s.Width, minWidth), maxWidth)
}

// SGR codes that stay readable on dark and light grounds.
const (
	bold    = "1"
	dim     = "2"
	red     = "31"
	green   = "32"
	yellow  = "33"
	reverse = "7"
)

// speakers are the colours of participants, in roster order.
var speakers = []string{"36", "35", "33", "34", "32", "31"}

// columns returns the width of a line on a terminal, as the screen's library
// measures it.
func columns(s string) int { return lipgloss.Width(s) }

func (s Style) paint(code, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// body returns untrusted text, stripped and wrapped, with indent before each line.
func (s Style) body(text, indent string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(term.Strip(text), "\n"), "\n") {
		for _, part := range wrap(strings.ReplaceAll(line, "\t", "    "), s.width()-columns(indent)) {
			b.WriteString(strings.TrimRight(indent+part, " ") + "\n")
		}
	}
	return b.String()
}

// wrap breaks a line at spaces, and within words that are longer than a line. It
// keeps the indentation.
func wrap(line string, width int) []string {
	if columns(line) <= width {
		return []string{line}
	}
	lead := line[:len(line)-len(strings.TrimLeft(line, " "))]
	if len(lead) > width/2 {
		lead = ""
	}
	var out []string
	now, used := lead, len(lead)
	for _, word := range strings.Fields(line) {
		w := columns(word)
		if used > len(lead) && used+1+w > width {
			out, now, used = append(out, now), lead, len(lead)
		}
		for w > width-len(lead) {
			head := cutWidth(word, width-len(lead))
			out = append(out, lead+head)
			word = word[len(head):]
			w = columns(word)
		}
		if used > len(lead) {
			now, used = now+" ", used+1
		}
		now, used = now+word, used+w
	}
	return append(out, now)
}

// cutWidth returns the longest prefix of s that is at most width columns wide. It
// is never empty, so a character wider than the terminal is shown too.
func cutWidth(s string, width int) string {
	end, used, state := 0, 0, -1
	for rest := s; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		w := columns(cluster)
		if used+w > width && end > 0 {
			break
		}
		end, used = end+len(cluster), used+w
	}
	return s[:end]
}

// clip returns s on one line of at most width columns.
func clip(s string, width int) string {
	if s = term.Line(s); columns(s) <= width {
		return s
	}
	if width <= 1 {
		return "…"
	}
	return cutWidth(s, width-1) + "…"
}
