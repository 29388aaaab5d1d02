package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/replay/score"
)

// Bounds of the text form.
const (
	textParticipants = 5
	textFlips        = 3
)

// WriteText writes the report for a terminal.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.summary())
	fmt.Fprintf(&b, "decision points: %s", r.Points)
	if r.Dropped > 0 {
		fmt.Fprintf(&b, " · %s left out (too few participants or turns)", count(r.Dropped, "transcript"))
	}
	b.WriteString("\n\n")
	figures := r.figureTable()
	figures.writeText(&b)
	if t := r.differenceTable(); len(t.Rows) > 0 {
		b.WriteByte('\n')
		t.Head = nil
		t.writeText(&b)
	}
	if t := r.endingTable(); len(t.Rows) > 0 {
		b.WriteString("\nhow the rooms ended\n")
		t.Head = nil
		t.writeText(&b)
	}
	r.writeWindows(&b)
	for i := range r.Policies {
		p := &r.Policies[i]
		if r.Mode != ModeSimulate {
			writeFlips(&b, p)
		}
		if p.FirstError != "" {
			fmt.Fprintf(&b, "  %s, first error: %s\n", term.Line(p.Policy), term.Line(p.FirstError))
		}
	}
	for _, g := range r.Gates {
		result := "passed"
		if !g.Passed {
			result = "FAILED"
		}
		fmt.Fprintf(&b, "\ngate %s: %s, %s.%s is %s", term.Line(g.Gate), result, term.Line(g.Policy), g.Figure, number(g.Observed))
	}
	if len(r.Gates) > 0 {
		b.WriteByte('\n')
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "\nnote: %s", note)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// writeWindows writes the windows of the participants with the most turns.
func (r *Report) writeWindows(b *strings.Builder) {
	if len(r.Windows) == 0 {
		return
	}
	b.WriteString("\nwindows, tokens per turn (messages left out)\n")
	t := r.windowTable(textParticipants)
	for _, row := range t.Rows {
		row[0] = "  " + row[0]
	}
	t.writeText(b)
	if n := len(r.Windows) - textParticipants; n > 0 {
		fmt.Fprintf(b, "  … %s more in -o json\n", count(n, "participant"))
	}
}

// writeFlips counts the decisions of p that differ from the recorded ones, with
// some examples.
func writeFlips(b *strings.Builder, p *score.Result) {
	fmt.Fprintf(b, "\nflips %s vs recorded: %s   speak→decline %s   decline→speak %s   other speaker %s\n", term.Line(p.Policy),
		thousands(p.Flips.Total), thousands(p.Flips.SpeakToDecline), thousands(p.Flips.DeclineToSpeak), thousands(p.Flips.OtherSpeaker))
	for _, f := range p.Flips.Examples[:min(textFlips, len(p.Flips.Examples))] {
		fmt.Fprintf(b, "  %s t#%d  %s → %s", flipPlace(f), f.Turn, term.Line(f.From), term.Line(f.To))
		if f.Reason != "" {
			fmt.Fprintf(b, "  %q", term.Line(f.Reason))
		}
		b.WriteByte('\n')
	}
	if len(p.Flips.Examples) > 0 && p.Flips.Examples[0].Seq > 0 {
		fmt.Fprintf(b, "  show one: moot replay show %s\n", flipPlace(p.Flips.Examples[0]))
	}
}

// WriteMarkdown writes the tables of the report as Markdown.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s; decision points: %s\n", escapeMarkdown(r.heading()), escapeMarkdown(r.summary()), r.Points)
	for _, t := range []Table{
		r.figureTable(), r.differenceTable(), r.endingTable(), r.riskTable(), r.airtimeTable(), r.tokenTable(),
		r.windowTable(len(r.Windows)), r.settingTable(),
	} {
		t.writeMarkdown(&b)
	}
	b.WriteString("\n")
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "- %s\n", escapeMarkdown(note))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
