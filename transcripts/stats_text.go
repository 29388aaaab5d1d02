package transcripts

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/internal/term"
)

// WriteText writes the statistics for people.
func (s *Stats) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d turns, %d messages, %d declined, %d passed, %d failed in %s; about %d tokens; gini of airtime %.2f\n",
		term.Line(s.Room), s.Turns, s.Messages, s.Declines, s.Passes, s.Failures, clock(s.Duration), s.Tokens, s.Gini)
	if s.Ending != "" {
		fmt.Fprintf(&b, "%s\n", term.Line(s.Ending))
	}
	rows := [][]string{{"who", "kind", "turns", "messages", "airtime", "tokens", "failures", "reply mean", "p95"}}
	for _, p := range s.Participants {
		rows = append(rows, []string{
			term.Line(label(p)), term.Line(p.Kind), fmt.Sprint(p.Turns), fmt.Sprint(p.Messages), fmt.Sprintf("%.1f %%", 100*p.Airtime),
			fmt.Sprint(p.Tokens), fmt.Sprint(p.Failures), orDash(p.Latency.Mean), orDash(p.Latency.P95),
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

// columns lines up cells that are safe to show.
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
