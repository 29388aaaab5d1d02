package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/folkmoot/moot/internal/term"
)

// WriteMarkdown writes the answers, the quoted decisions and the tables of the
// report as Markdown.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s · %s\n\n", escapeMarkdown(r.heading()), escapeMarkdown(r.summary()), escapeMarkdown(r.scope()))
	for _, a := range r.answers() {
		fmt.Fprintf(&b, "- **%s** %s\n", escapeMarkdown(a.Policy), escapeMarkdown(a.Sentence))
		for _, v := range a.Remarks {
			fmt.Fprintf(&b, "  - %s %s\n", v.Sign(), escapeMarkdown(v.Text))
		}
	}
	fmt.Fprintf(&b, "\n%s\n", escapeMarkdown(r.caution()))
	r.writeMarkdownQuotes(&b)
	tables := append(r.figureTables(), r.differenceTable(), r.endingTable(), r.flipTable(), r.riskTable(), r.airtimeTable(), r.tokenTable(), r.spendingTable())
	for _, t := range append(append(tables, r.confusionTables()...), r.windowTable(len(r.Windows)), r.settingTable()) {
		t.writeMarkdown(&b)
	}
	b.WriteString("\n")
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "- %s\n", escapeMarkdown(note))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) writeMarkdownQuotes(b *strings.Builder) {
	quotes := r.quotes()
	if len(quotes) > 0 {
		b.WriteString("\n## Where they differ\n\n")
	}
	for _, q := range quotes {
		fmt.Fprintf(b, "- **%s** %s: “%s” (%s)\n  after %s: “%s”\n", escapeMarkdown(q.Policy), escapeMarkdown(q.Did), escapeMarkdown(q.Reason),
			escapeMarkdown(q.Place), escapeMarkdown(q.From), escapeMarkdown(q.Text))
	}
}

// confusionTables say which participants each policy chooses instead of which.
func (r *Report) confusionTables() []Table {
	var all []Table
	for _, c := range r.Confusion {
		t := Table{Title: "Chosen instead, by " + term.Line(c.Policy), Head: []string{"recorded", "decisions", "same", "instead"}}
		for _, row := range c.Rows {
			var instead []string
			for _, x := range row.Instead {
				instead = append(instead, choiceText(x.Chosen)+" "+thousands(x.Count))
			}
			t.Rows = append(t.Rows, []string{choiceText(row.Recorded), thousands(row.Decisions), thousands(row.Same), strings.Join(instead, ", ")})
		}
		all = append(all, t)
	}
	return all
}

// writeMarkdown writes the table under its title; nothing without rows.
func (t *Table) writeMarkdown(b *strings.Builder) {
	if len(t.Rows) == 0 {
		return
	}
	b.WriteString("\n## " + escapeMarkdown(t.Title) + "\n\n")
	if t.Note != "" {
		b.WriteString(escapeMarkdown(t.Note) + "\n\n")
	}
	writeMarkdownRow(b, t.Head)
	b.WriteString("|" + strings.Repeat("---|", len(t.Head)) + "\n")
	for _, row := range t.Rows {
		writeMarkdownRow(b, row)
	}
}

func writeMarkdownRow(b *strings.Builder, row []string) {
	b.WriteByte('|')
	for _, cell := range row {
		b.WriteString(" " + escapeMarkdown(strings.ReplaceAll(cell, noteMark, " ")) + " |")
	}
	b.WriteByte('\n')
}

var markdownEscapes = strings.NewReplacer(
	"\\", "\\\\", "|", "\\|", "<", "&lt;", "&", "&amp;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]", "#", "\\#", "~", "\\~",
)

// escapeMarkdown escapes the characters that Markdown would interpret.
func escapeMarkdown(s string) string { return markdownEscapes.Replace(s) }
