package replay

import (
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the figures of the report as tables of Markdown.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s; decision points: %s\n", markdownCell(r.heading()), markdownCell(r.title()), r.Points)
	g := r.grid()
	markdownTable(&b, "Figures", rows{g[0], g[1:]})
	markdownTable(&b, "Differences (~ may be chance)", rows{[]string{"policies", "figure", "difference", "p"}, r.differenceRows()})
	markdownTable(&b, "How the rooms ended", rows{[]string{"policy", "ending", ""}, r.endingRows()})
	if c := r.riskCurves(); c != nil {
		markdownTable(&b, "Risk and coverage", c.Table)
	}
	markdownTable(&b, "Airtime", r.shares().Table)
	markdownTable(&b, "Prompt tokens, cumulative (estimate)", r.tokenCurves().Table)
	markdownTable(&b, "What seats would have been handed, tokens a turn (messages left out)", r.windowRows(len(r.Windows)))
	markdownTable(&b, "Settings", r.settingRows())
	b.WriteString("\n")
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "- %s\n", markdownCell(note))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markdownTable writes a table under a heading; nothing for one without rows.
func markdownTable(b *strings.Builder, heading string, t rows) {
	if len(t.Rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", heading)
	markdownRow(b, t.Head)
	b.WriteString("|" + strings.Repeat("---|", len(t.Head)) + "\n")
	for _, row := range t.Rows {
		markdownRow(b, row)
	}
}

func markdownRow(b *strings.Builder, row []string) {
	b.WriteByte('|')
	for _, cell := range row {
		b.WriteString(" " + markdownCell(cell) + " |")
	}
	b.WriteByte('\n')
}

// markdownEscapes are the characters that would be more than themselves.
var markdownEscapes = strings.NewReplacer(
	"\\", "\\\\", "|", "\\|", "<", "&lt;", "&", "&amp;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]", "#", "\\#", "~", "\\~",
)

func markdownCell(s string) string { return markdownEscapes.Replace(s) }
