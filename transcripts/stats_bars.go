package transcripts

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/internal/term"
)

// Bounds of a drawing, in columns.
const (
	minBars   = 40
	mostBars  = 100
	mostLabel = 30
	figure    = len(" 100.0 %")
)

// eighths are blocks of one to eight eighths of a column.
var eighths = []rune(" ▏▎▍▌▋▊▉█")

// WriteBars draws the airtime of each participant as a bar, for a terminal of
// so many columns. Nothing is drawn where there is no room or no airtime.
func (s *Stats) WriteBars(w io.Writer, width int) error {
	longest := 0
	for _, p := range s.Participants {
		longest = max(longest, min(utf8.RuneCountInString(term.Line(label(p))), mostLabel))
	}
	room := min(width, mostBars) - longest - figure - 5
	if width < minBars || room < 10 || s.Gini == 0 && len(s.Participants) < 2 {
		return nil
	}
	var b strings.Builder
	b.WriteByte('\n')
	for _, p := range s.Participants {
		name := []rune(term.Line(label(p)))
		if len(name) > longest {
			name = append(name[:longest-1:longest-1], '…')
		}
		fmt.Fprintf(&b, "  %s%s  %s%5.1f %%\n", string(name), strings.Repeat(" ", longest-len(name)), bar(p.Airtime, room), 100*p.Airtime)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// bar is a share of so many columns, filled up with blanks.
func bar(share float64, columns int) string {
	n := int(share*float64(columns)*8 + 0.5)
	if n == 0 && share > 0 {
		n = 1 // something is not nothing
	}
	full, rest := n/8, n%8
	text := strings.Repeat(string(eighths[8]), full)
	if rest > 0 {
		text += string(eighths[rest])
		full++
	}
	return text + strings.Repeat(" ", columns-full+1)
}
