package transcripts

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/internal/term"
)

// WriteText writes the statistics as a table for a terminal.
func (s *Stats) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d turns, %d messages, %d declined, %d passed, %d failed in %s; %s; gini of airtime %.2f\n",
		term.Line(s.Room), s.Turns, s.Messages, s.Declines, s.Passes, s.Failures, clock(s.Duration), s.used(), s.Gini)
	if s.Ending != "" {
		fmt.Fprintf(&b, "%s\n", term.Line(s.Ending))
	}
	rows := [][]string{{"who", "kind", "turns", "messages", "airtime", "tokens", "failures", "reply mean", "p95"}}
	for _, p := range s.Participants {
		rows = append(rows, []string{
			term.Line(participantLabel(p)), term.Line(p.Kind), fmt.Sprint(p.Turns), fmt.Sprint(p.Messages), fmt.Sprintf("%.1f %%", 100*p.Airtime),
			human.Rough(fmt.Sprint(p.Tokens), p.Estimated), fmt.Sprint(p.Failures), orDash(p.Latency.Mean), orDash(p.Latency.P95),
		})
	}
	columns(&b, rows)
	for _, p := range s.Policies {
		fmt.Fprintf(&b, "policy %s: %d decisions, %d declined, %d errors, %s each, p95 %s\n",
			term.Line(p.Policy), p.Decisions, p.Declines, p.Errors, orDash(p.Micros.Mean), orDash(p.Micros.P95))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// used says what the room has used.
func (s *Stats) used() string {
	text := human.Tokens(s.Tokens, s.CachedInput, s.Reasoning, s.Estimated, nil)
	if s.Cost > 0 {
		text += ", cost " + human.Rough(human.Money(s.Cost), s.CostEstimated)
	}
	return text
}

// columns writes rows as aligned columns. Cells must not contain control
// characters.
func columns(b *strings.Builder, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)+2)
		}
		b.WriteString("  " + strings.TrimRight(line, " ") + "\n")
	}
}

// Bounds of a bar chart, in columns.
const (
	minBars   = 40
	mostBars  = 100
	mostLabel = 30
	figure    = len(" 100.0 %")
)

// eighths are blocks of zero to eight eighths of a column.
var eighths = []rune(" ▏▎▍▌▋▊▉█")

// WriteBars draws the airtime of each participant as a bar, for a terminal with
// width columns. It draws nothing if the terminal is too narrow or there is no
// airtime.
func (s *Stats) WriteBars(w io.Writer, width int) error {
	longest := 0
	for _, p := range s.Participants {
		longest = max(longest, min(utf8.RuneCountInString(term.Line(participantLabel(p))), mostLabel))
	}
	room := min(width, mostBars) - longest - figure - 5
	if width < minBars || room < 10 || s.Gini == 0 && len(s.Participants) < 2 {
		return nil
	}
	var b strings.Builder
	b.WriteByte('\n')
	for _, p := range s.Participants {
		name := []rune(term.Line(participantLabel(p)))
		if len(name) > longest {
			name = append(name[:longest-1:longest-1], '…')
		}
		fmt.Fprintf(&b, "  %s%s  %s%5.1f %%\n", string(name), strings.Repeat(" ", longest-len(name)), bar(p.Airtime, room), 100*p.Airtime)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// bar returns a bar for a share of columns, padded with blanks.
func bar(share float64, columns int) string {
	n := int(share*float64(columns)*8 + 0.5)
	if n == 0 && share > 0 {
		n = 1 // keep small shares visible
	}
	full, rest := n/8, n%8
	text := strings.Repeat(string(eighths[8]), full)
	if rest > 0 {
		text += string(eighths[rest])
		full++
	}
	return text + strings.Repeat(" ", columns-full+1)
}
