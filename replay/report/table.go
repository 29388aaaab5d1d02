package report

import (
	"strings"
	"unicode/utf8"
)

// A Table is a part of a report. Its cells are plain text in one line, which
// each form escapes as it must.
type Table struct {
	Title string
	Head  []string // may be empty
	Rows  [][]string
}

// lines returns the head, if any, and the rows.
func (t *Table) lines() [][]string {
	if len(t.Head) == 0 {
		return t.Rows
	}
	return append([][]string{t.Head}, t.Rows...)
}

// writeText writes the table with aligned columns, without its title.
func (t *Table) writeText(b *strings.Builder) {
	const gap = 3
	var width []int
	for _, row := range t.lines() {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.lines() {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)+gap))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// writeMarkdown writes the table under its title; nothing without rows.
func (t *Table) writeMarkdown(b *strings.Builder) {
	if len(t.Rows) == 0 {
		return
	}
	b.WriteString("\n## " + t.Title + "\n\n")
	writeMarkdownRow(b, t.Head)
	b.WriteString("|" + strings.Repeat("---|", len(t.Head)) + "\n")
	for _, row := range t.Rows {
		writeMarkdownRow(b, row)
	}
}

func writeMarkdownRow(b *strings.Builder, row []string) {
	b.WriteByte('|')
	for _, cell := range row {
		b.WriteString(" " + escapeMarkdown(cell) + " |")
	}
	b.WriteByte('\n')
}

var markdownEscapes = strings.NewReplacer(
	"\\", "\\\\", "|", "\\|", "<", "&lt;", "&", "&amp;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]", "#", "\\#", "~", "\\~",
)

// escapeMarkdown escapes the characters that Markdown would interpret.
func escapeMarkdown(s string) string { return markdownEscapes.Replace(s) }
