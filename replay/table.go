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
	r.handed(&b)
	for i := range r.Policies {
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

// line is one row of the table: what it says of the recorded and of a policy.
type line struct {
	name     string
	recorded func(*Result) string
	policy   func(p, recorded *Result) string
}

func (r *Report) grid() grid {
	g := grid{{"", "recorded"}}
	for _, p := range r.Policies {
		g[0] = append(g[0], term.Line(p.Policy))
	}
	for _, l := range lines() {
		row := []string{l.name, l.recorded(&r.Recorded)}
		for i := range r.Policies {
			row = append(row, l.policy(&r.Policies[i], &r.Recorded))
		}
		g.row(row...)
	}
	return g
}

func none(*Result) string { return "—" }

// own is a row whose figure stands for itself, with its interval for policies.
func own(name, key string, show func(float64) string, recorded bool) line {
	l := line{name: name, recorded: none}
	if recorded {
		l.recorded = func(r *Result) string { return show(float64(*figureOf(r, key))) }
	}
	l.policy = func(p, _ *Result) string {
		s := show(float64(*figureOf(p, key)))
		if i := p.Intervals[key]; !math.IsNaN(float64(i[0])) && s != "—" {
			s += " " + bounds(i, show)
		}
		return s
	}
	return l
}

// bounds is an interval: [36.0,40.5].
func bounds(i [2]Figure, show func(float64) string) string {
	bare := func(f Figure) string { return strings.TrimSuffix(show(float64(f)), " %") }
	return "[" + bare(i[0]) + "," + bare(i[1]) + "]"
}

func lines() []line {
	return []line{
		own("same choice", "accuracy", percent, false),
		own("  mean of transcripts", "macro_accuracy", percent, false),
		own("  truth had spoken before", "accuracy_seen", percent, false),
		own("  of those not declined", "selective_accuracy", percent, false),
		own("mean reciprocal rank", "mrr", decimal, false),
		own("speak or silence, balanced", "balanced_accuracy", percent, false),
		{
			"declines", func(r *Result) string { return thousands(r.Declines) },
			func(p, r *Result) string {
				return fmt.Sprintf("%s (%s)", thousands(p.Declines), signed(p.Declines-r.Declines))
			},
		},
		own("airtime: top speaker", "top_speaker", percent, true),
		own("airtime: gini", "gini", decimal, true),
		own("addressed but not chosen", "addressed_not_chosen", percent, true),
		{
			"prompt tokens (~ estimate)", func(r *Result) string { return tokens(float64(r.Tokens)) },
			func(p, r *Result) string {
				if r.Tokens == 0 {
					return tokens(float64(p.Tokens))
				}
				return fmt.Sprintf("%s (%s %%)", tokens(float64(p.Tokens)), signed(int(math.Round(100*float64(p.Tokens-r.Tokens)/float64(r.Tokens)))))
			},
		},
		{"decision p50 / p99", none, func(p, _ *Result) string {
			return fmt.Sprintf("%s / %s ms", decimal(float64(p.P50)), decimal(float64(p.P99)))
		}},
		{"run twice, same bytes", none, func(p, _ *Result) string {
			if p.Differing > 0 {
				return fmt.Sprintf("NO: %s of %s differ", thousands(p.Differing), thousands(p.Repeated))
			}
			return fmt.Sprintf("yes (%s)", thousands(p.Repeated))
		}},
		{
			"errors", func(r *Result) string { return thousands(r.Errors) },
			func(p, _ *Result) string { return thousands(p.Errors) },
		},
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
	for _, c := range r.Comparisons {
		mark := ""
		if !(c.P < 0.05) {
			mark = "~"
		}
		all = append(all, []string{
			term.Line(c.B) + " − " + term.Line(c.A), c.Figure,
			fmt.Sprintf("%s%+.1f %s", mark, 100*float64(c.Difference), bounds(c.Interval, percent)), "p=" + number(float64(c.P)),
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
	if p.FirstError != "" {
		fmt.Fprintf(b, "  first error: %s\n", term.Line(p.FirstError))
	}
}

// number is f as short as four decimals allow.
func number(f float64) string {
	if math.IsNaN(f) {
		return "nothing to measure"
	}
	return string(appendRounded(nil, f))
}
