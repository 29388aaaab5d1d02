package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/score"
)

// maxShownText bounds the text of an event in an explanation, in characters.
const maxShownText = 200

// WriteExplanation writes one decision point for a terminal.
func WriteExplanation(w io.Writer, x *drive.Explanation) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, decision point %d, turn %d\n\n", term.Line(x.Transcript), x.Point, x.Turn)
	for _, e := range x.Events {
		text := term.Line(e.Text)
		if runes := []rune(text); len(runes) > maxShownText {
			text = string(runes[:maxShownText]) + "…"
		}
		fmt.Fprintf(&b, "  %s: %s\n", term.Line(e.From), text)
		if len(e.Addressed) > 0 {
			fmt.Fprintf(&b, "    addresses %s\n", term.Line(strings.Join(e.Addressed, ", ")))
		}
	}
	fmt.Fprintf(&b, "\nrecorded: %s\n", term.Line(x.Recorded))
	for _, p := range x.Policies {
		fmt.Fprintf(&b, "\n%s: %s", term.Line(p.Policy), term.Line(p.Answer))
		if p.Reason != "" {
			fmt.Fprintf(&b, "  %q", term.Line(p.Reason))
		}
		if p.Rank > 1 {
			fmt.Fprintf(&b, "  (ranks the recorded choice %d)", p.Rank)
		}
		b.WriteByte('\n')
		for _, s := range p.Scores {
			fmt.Fprintf(&b, "  %-10s %s\n", score.Figure(s.Score).Rounded(), term.Line(s.Agent))
		}
		if p.Log != "" {
			fmt.Fprintf(&b, "  log: %s\n", term.Strip(p.Log))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteChecked writes the result of a check for a terminal.
func WriteChecked(w io.Writer, c *drive.Checked) error {
	var b strings.Builder
	for _, r := range c.Rooms {
		fmt.Fprintf(&b, "%s: %d of %s reproduced", term.Line(r.Room), r.Reproduced, count(r.Decisions, "decision"))
		if r.Withheld > 0 {
			fmt.Fprintf(&b, "; %d not repeatable, because part of their input was redacted", r.Withheld)
		}
		if r.ByTime > 0 {
			fmt.Fprintf(&b, "; %d not repeatable, because they ended by the processor's time", r.ByTime)
		}
		b.WriteByte('\n')
		if d := r.First; d != nil {
			fmt.Fprintf(&b, "  first difference: decision %d of %s, event %d, %s\n    recorded: %s\n    replayed: %s\n",
				d.Decision, term.Line(d.Policy), d.Seq, d.What, term.Line(d.Recorded), term.Line(d.Replayed))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
