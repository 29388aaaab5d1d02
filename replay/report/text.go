package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/internal/term"
)

// Bounds of the text form.
const (
	textParticipants = 5
	textBar          = 40
)

// A textWriter builds the text form, with colors for a terminal that shows them.
type textWriter struct {
	strings.Builder
	colors bool
}

// sgr are the parameters of the control sequences of tones.
var sgr = map[tone]string{better: "32", worse: "31", chance: "2", neutral: ""}

func (w *textWriter) paint(parameter, s string) string {
	if !w.colors || parameter == "" {
		return s
	}
	return "\x1b[" + parameter + "m" + s + "\x1b[0m"
}

// WriteText writes the report in 80 columns. Its first screen is an answer for
// each policy and three decisions; the tables follow. With colors, for a terminal,
// it marks what is better and worse, which the words say too.
func (r *Report) WriteText(out io.Writer, colors bool) error {
	w := &textWriter{colors: colors}
	w.lines(r.summary(), "")
	w.lines(r.scope(), "")
	for _, a := range r.answers() {
		w.answer(&a)
	}
	w.WriteByte('\n')
	w.lines(r.caution(), "")
	for _, g := range r.Gates {
		w.gate(g)
	}
	w.quotes(r.quotes())
	for _, t := range r.figureTables() {
		w.table(t)
	}
	for _, t := range []Table{r.differenceTable(), r.endingTable(), r.flipTable(), r.windowTable(textParticipants)} {
		w.table(t)
	}
	r.writeHints(w)
	for _, note := range r.Notes {
		w.lines("note: "+note, "  ")
	}
	_, err := io.WriteString(out, w.String())
	return err
}

// lines writes s in lines of 80 characters, the later ones indented.
func (w *textWriter) lines(s, indent string) {
	for i, line := range term.Wrap(s, textWidth-len(indent)) {
		if i > 0 {
			line = indent + line
		}
		w.WriteString(line + "\n")
	}
}

// indented writes s below a heading.
func (w *textWriter) indented(s, indent, parameter string) {
	for _, line := range term.Wrap(s, textWidth-len(indent)) {
		w.WriteString(indent + w.paint(parameter, line) + "\n")
	}
}

// answer writes the name with the interval as a bar, the sentence and the remarks.
func (w *textWriter) answer(a *answer) {
	const bold = "1"
	w.WriteString("\n" + w.paint(bold, term.Shorten(a.Policy, textWidth)))
	if a.Label != "" && utf8.RuneCountInString(a.Policy+a.Label) > textWidth-2 {
		w.WriteString("\n")
	}
	if a.Label != "" {
		w.WriteString("  " + w.paint(sgr[better], a.Label))
	}
	w.WriteByte('\n')
	if a.Bar.Shown {
		fmt.Fprintf(w, "  %-5s %s  %s\n", a.Big, textRange(a.Bar), a.Range)
	}
	w.indented(a.Sentence, "  ", "")
	if a.Sure != "" {
		w.indented(a.Sure, "  ", "")
	}
	for _, v := range a.Remarks {
		w.indented(v.Sign()+" "+v.Text, "  ", sgr[v.Tone])
	}
}

// textRange draws a figure and its interval from 0 to 100 %.
func textRange(b rangeBar) string {
	cells := []rune(strings.Repeat("·", textBar))
	at := func(percent float64) int { return min(textBar-1, int(math.Round(percent*(textBar-1)/100))) }
	if b.HasRange {
		for i := at(b.From); i <= at(b.From+b.Width); i++ {
			cells[i] = '━'
		}
	}
	cells[at(b.At)] = '●'
	return "0 " + string(cells) + " 100"
}

// quotes writes some decisions that differ from the recorded ones.
func (w *textWriter) quotes(quotes []quote) {
	if len(quotes) > 0 {
		w.WriteString("\nwhere they differ\n")
	}
	for _, q := range quotes {
		w.indented(q.Place, "  ", "2")
		w.indented(fmt.Sprintf("%s: “%s”", q.From, term.Shorten(q.Text, 150)), "    ", "")
		s := q.Policy + " " + q.Did
		if q.Reason != "" {
			s += ": “" + q.Reason + "”"
		}
		w.indented(s, "    ", "")
	}
}

// table writes a table under its title; nothing without rows.
func (w *textWriter) table(t Table) {
	if len(t.Rows) == 0 {
		return
	}
	t.Rows = append([][]string{}, t.Rows...)
	w.WriteString("\n" + w.paint("1", strings.ToLower(t.Title[:1])+t.Title[1:]) + "\n")
	t.writeText(&w.Builder)
}

func (w *textWriter) gate(g Gate) {
	result, color := "passed", sgr[better]
	if !g.Passed {
		result, color = "FAILED", sgr[worse]
	}
	w.WriteByte('\n')
	w.indented(fmt.Sprintf("gate %s: %s, %s.%s is %s", term.Line(g.Gate), result, term.Line(g.Policy), g.Figure, number(g.Observed)), "", color)
}

// writeHints says how to see a decision in full, and the first error of each
// policy.
func (r *Report) writeHints(w *textWriter) {
	w.WriteByte('\n')
	for i := range r.Policies {
		p := &r.Policies[i]
		if len(p.Flips.Examples) > 0 && p.Flips.Examples[0].Seq > 0 && i == 0 {
			fmt.Fprintf(w, "show one decision: moot replay show %s\n", flipPlace(p.Flips.Examples[0]))
		}
		if p.FirstError != "" {
			w.lines(fmt.Sprintf("%s, first error: %s", term.Line(p.Policy), term.Line(p.FirstError)), "  ")
		}
	}
	if n := len(r.Windows) - textParticipants; n > 0 {
		w.lines(fmt.Sprintf("windows of %s: -o json", count(n, "more participant")), "  ")
	}
}
