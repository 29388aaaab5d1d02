package replay

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/internal/term"
)

// WriteTable writes the report for people.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.title())
	fmt.Fprintf(&b, "decision points: %s", r.Points)
	if r.Dropped > 0 {
		fmt.Fprintf(&b, " · %s left out (too few participants or turns)", count(r.Dropped, "transcript"))
	}
	b.WriteString("\n\n")
	r.grid().write(&b)
	r.differences(&b)
	if g := grid(r.endingRows()); len(g) > 0 {
		b.WriteString("\nhow the rooms ended\n")
		g.write(&b)
	}
	r.handed(&b)
	for i := range r.Policies {
		if r.Mode == ModeSimulate {
			r.Policies[i].trouble(&b)
			continue
		}
		r.Policies[i].flips(&b)
	}
	for _, g := range r.Gates {
		verdict := "passed"
		if !g.Passed {
			verdict = "FAILED"
		}
		fmt.Fprintf(&b, "\ngate %s: %s, %s.%s is %s", term.Line(g.Gate), verdict, term.Line(g.Policy), g.Figure, number(float64(g.Observed)))
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

// A grid is a table whose columns line up.
type grid [][]string

func (g *grid) row(cells ...string) { *g = append(*g, cells) }

func (g grid) write(b *strings.Builder) {
	var width []int
	for _, row := range g {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range g {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)+3))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// differences says how the later policies differ from the first; ~ marks what
// may be chance.
func (r *Report) differences(b *strings.Builder) {
	if g := grid(r.differenceRows()); len(g) > 0 {
		b.WriteByte('\n')
		g.write(b)
	}
}

func (r *Report) differenceRows() [][]string {
	var all [][]string
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if c.A == recordedName {
			continue // is in the table above
		}
		points, show := 100.0, percent
		if c.Figure == "tokens_a_decision" {
			points, show = 1, whole
		}
		all = append(all, []string{
			term.Line(c.B) + " − " + term.Line(c.A), c.Figure,
			fmt.Sprintf("%s%+.1f %s", c.mark(), points*float64(c.Difference), bounds(c.Interval, show)), "p=" + number(float64(c.P)),
		})
	}
	return all
}

// handed tells what the seats with the most turns would have been handed.
func (r *Report) handed(b *strings.Builder) {
	const shown = 5
	if len(r.Windows) == 0 {
		return
	}
	b.WriteString("\nwindows, tokens a turn (messages left out of them)\n")
	w := r.windowRows(shown)
	for _, row := range w.Rows {
		row[0] = "  " + row[0]
	}
	g := append(grid{w.Head}, w.Rows...)
	g.write(b)
	if n := len(r.Windows) - shown; n > 0 {
		fmt.Fprintf(b, "  … %s more in -o json\n", count(n, "participant"))
	}
}

// windowRows is the table of the first n seats.
func (r *Report) windowRows(n int) rows {
	w := rows{Head: []string{"", "turns"}}
	for i, s := range r.Windows[:min(n, len(r.Windows))] {
		row := []string{term.Line(s.Participant), thousands(s.Turns)}
		for _, x := range s.Budgets {
			if i == 0 {
				w.Head = append(w.Head, budgetName(x.Budget))
			}
			row = append(row, fmt.Sprintf("%s (%s)", thousands(int(x.Tokens)/s.Turns), thousands(x.Omitted)))
		}
		w.Rows = append(w.Rows, row)
	}
	return w
}

func budgetName(tokens int) string {
	if tokens == 0 {
		return "whole"
	}
	return thousands(tokens)
}

// flips tells what a policy would have done otherwise, with some examples.
func (p *Result) flips(b *strings.Builder) {
	const shown = 3
	fmt.Fprintf(b, "\nflips %s vs recorded: %s   speak→decline %s   decline→speak %s   other speaker %s\n", term.Line(p.Policy),
		thousands(p.Flips.Total), thousands(p.Flips.SpeakToDecline), thousands(p.Flips.DeclineToSpeak), thousands(p.Flips.OtherSpeaker))
	for _, f := range p.Flips.Examples[:min(shown, len(p.Flips.Examples))] {
		fmt.Fprintf(b, "  %s t#%d  %s → %s", term.Line(f.place()), f.Turn, term.Line(f.From), term.Line(f.To))
		if f.Reason != "" {
			fmt.Fprintf(b, "  %q", term.Line(f.Reason))
		}
		b.WriteByte('\n')
	}
	if len(p.Flips.Examples) > 0 && p.Flips.Examples[0].Seq > 0 {
		fmt.Fprintf(b, "  open one: moot replay show %s\n", term.Line(p.Flips.Examples[0].place()))
	}
	p.trouble(b)
}

func (p *Result) trouble(b *strings.Builder) {
	if p.FirstError != "" {
		fmt.Fprintf(b, "  %s, first error: %s\n", term.Line(p.Policy), term.Line(p.FirstError))
	}
}

// number is f as short as four decimals allow.
func number(f float64) string {
	if math.IsNaN(f) {
		return "nothing to measure"
	}
	return string(appendRounded(nil, f))
}
