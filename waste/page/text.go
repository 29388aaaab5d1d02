// Package page writes the report of package waste: for a terminal, as Markdown, and as
// an HTML page that needs no network and runs no script.
package page

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/waste"
)

// Bounds of the text form.
const (
	textExamples = 2 // of a kind
	textGroups   = 6
	textExcerpt  = 96 // characters
)

// WriteText writes a report for a terminal.
func WriteText(w io.Writer, r *waste.Report) error {
	v := view{r}
	var b strings.Builder
	b.WriteString(v.summary() + "\n\n")
	for _, s := range v.sentences() {
		b.WriteString(s + "\n")
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
		fmt.Fprintf(&b, "\ngate %s: %s, %s is %s", g.Gate, result, g.Figure, number(g.Observed))
	}
	if len(r.Gates) > 0 {
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	for _, note := range v.notes() {
		b.WriteString("note: " + note + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
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
			fmt.Fprintf(b, "  %s (%s)\n    %q\n", place(x), remark(x, v.EstimatedTurns > 0), excerpt(x, textExcerpt))
		}
	}
	for i := range v.Kinds {
		if len(v.Kinds[i].Examples) > 0 {
			fmt.Fprintf(b, "\nshow one: %s\n", shower(&v.Kinds[i].Examples[0]))
			return
		}
	}
}

// writeText writes the table with aligned columns, without its title. All columns but
// the first are aligned to the right.
func (t *table) writeText(b *strings.Builder) {
	lines := append([][]string{t.Head}, t.Rows...)
	width := make([]int, len(t.Head))
	for _, row := range lines {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range lines {
		line := ""
		for i, cell := range row {
			fill := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				line += cell + fill
			} else {
				line += "   " + fill + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
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
			fmt.Fprintf(&b, "- %s (%s): %s\n", escape(place(x)), escape(remark(x, v.EstimatedTurns > 0)), escape(excerpt(x, 2*textExcerpt)))
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
