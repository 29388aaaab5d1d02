// Package page writes the report of package waste: for a terminal, as Markdown, and as
// an HTML page that needs no network and runs no script.
package page

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/waste"
)

// Bounds of the text form. Lengths are in characters.
const (
	textExamples = 2 // of a kind
	textGroups   = 6
	textGap      = 3
	maxKey       = 28     // of the first column of a table
	textIndent   = "    " // of an excerpt
	textExcerpt  = term.Width - len(textIndent) - len(`""`)
	longExcerpt  = 192 // of Markdown
)

// WriteText writes a report for a terminal of 80 columns.
func WriteText(w io.Writer, r *waste.Report) error {
	v := view{r}
	var b strings.Builder
	writeLines(&b, "", v.summary())
	b.WriteByte('\n')
	for _, s := range v.sentences() {
		writeLines(&b, "", s)
	}
	b.WriteByte('\n')
	kinds, groups := v.kindTable(), v.groupTable(textGroups)
	kinds.writeText(&b)
	if len(groups.Rows) > 0 {
		b.WriteByte('\n')
		groups.writeText(&b)
	}
	if n := len(v.Groups) - textGroups; n > 0 && len(groups.Rows) > 0 {
		fmt.Fprintf(&b, "… %s more in -o json\n", count(int64(n), "group"))
	}
	v.writeExamples(&b)
	for _, g := range r.Gates {
		result := "passed"
		if !g.Passed {
			result = "FAILED"
		}
		b.WriteByte('\n')
		writeLines(&b, "", fmt.Sprintf("gate %s: %s, %s is %s", term.Line(g.Gate), result, g.Figure, number(g.Observed)))
	}
	b.WriteByte('\n')
	for _, note := range v.notes() {
		writeLines(&b, "", "note: "+note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeLines writes s in lines that fit, the first one behind indent and the later ones
// two characters further in.
func writeLines(b *strings.Builder, indent, s string) {
	for i, line := range term.Wrap(s, term.Width-len(indent)-2) {
		if i == 1 {
			indent += "  "
		}
		b.WriteString(indent + line + "\n")
	}
}

func (v view) writeExamples(b *strings.Builder) {
	for i := range v.Kinds {
		k := &v.Kinds[i]
		if len(k.Examples) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%s\n", titles[k.Kind])
		for j := range k.Examples[:min(textExamples, len(k.Examples))] {
			x := &k.Examples[j]
			writeLines(b, "  ", place(x)+" ("+remark(x, v.EstimatedTurns > 0)+")")
			b.WriteString(textIndent + "“" + excerpt(x, textExcerpt) + "”\n")
		}
	}
	for i := range v.Kinds {
		if len(v.Kinds[i].Examples) > 0 {
			b.WriteString("\n" + showLines(&v.Kinds[i].Examples[0]))
			return
		}
	}
}

// showLines names the command that shows the run of an example. A line that does not fit
// is continued as a shell reads it.
func showLines(x *waste.Example) string {
	const title = "show one: "
	line := title + strings.Join(shower(x), " ")
	if utf8.RuneCountInString(line) > term.Width {
		line = title + strings.Join(shower(x), " \\\n"+strings.Repeat(" ", len(title)))
	}
	return line + "\n"
}

// writeText writes the table with aligned columns, without its title. All columns but
// the first are aligned to the right. Columns that do not fit follow below, behind the
// first one.
func (t *table) writeText(b *strings.Builder) {
	lines := append([][]string{t.Head}, t.Rows...)
	width := make([]int, len(t.Head))
	for _, row := range lines {
		row[0] = term.Shorten(row[0], maxKey)
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for from := 1; from < len(width); {
		if from > 1 {
			b.WriteByte('\n')
		}
		to, used := from, width[0]
		for to < len(width) && (to == from || used+textGap+width[to] <= term.Width) {
			used += textGap + width[to]
			to++
		}
		if to < len(width) && from < t.Break && t.Break < to {
			to = t.Break
		}
		for _, row := range lines {
			writeRow(b, row, width, from, min(to, len(row)))
		}
		from = to
	}
}

// writeRow writes the first cell of row, and the cells from, up to but not including to.
func writeRow(b *strings.Builder, row []string, width []int, from, to int) {
	fill := func(i int) string { return strings.Repeat(" ", width[i]-utf8.RuneCountInString(row[i])) }
	line := row[0] + fill(0)
	for i := from; i < to; i++ {
		line += strings.Repeat(" ", textGap) + fill(i) + row[i]
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// WriteMarkdown writes a report as Markdown.
func WriteMarkdown(w io.Writer, r *waste.Report) error {
	v := view{r}
	var b strings.Builder
	fmt.Fprintf(&b, "# Waste\n\n%s\n\n", escape(v.summary()))
	for _, s := range v.sentences() {
		b.WriteString("- " + escape(s) + "\n")
	}
	for _, t := range []table{v.kindTable(), v.groupTable(maxPageGroups), v.gateTable()} {
		t.writeMarkdown(&b)
	}
	for i := range v.Kinds {
		k := &v.Kinds[i]
		if len(k.Examples) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## Examples: %s\n\n", titles[k.Kind])
		for j := range k.Examples {
			x := &k.Examples[j]
			fmt.Fprintf(&b, "- %s (%s): %s\n", escape(place(x)), escape(remark(x, v.EstimatedTurns > 0)), escape(excerpt(x, longExcerpt)))
		}
	}
	b.WriteByte('\n')
	for _, note := range v.notes() {
		b.WriteString("- " + escape(note) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *table) writeMarkdown(b *strings.Builder) {
	if len(t.Rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", t.Title)
	line := func(row []string) {
		b.WriteByte('|')
		for _, cell := range row {
			b.WriteString(" " + escape(cell) + " |")
		}
		b.WriteByte('\n')
	}
	line(t.Head)
	b.WriteString("|" + strings.Repeat("---|", len(t.Head)) + "\n")
	for _, row := range t.Rows {
		line(row)
	}
}

var escapes = strings.NewReplacer(
	"\\", "\\\\", "|", "\\|", "<", "&lt;", "&", "&amp;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]", "#", "\\#", "~", "\\~",
)

// escape escapes the characters that Markdown would interpret.
func escape(s string) string { return escapes.Replace(s) }
