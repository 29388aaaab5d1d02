package report

import (
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/internal/term"
)

// A Table is a part of a report. Its cells are plain text in one line, which
// each form escapes as it must. Notes may follow the value of a cell, each after
// noteMark.
type Table struct {
	Title string
	Note  string   // below the title; may be empty
	Head  []string // may be empty
	Keys  int      // columns that name a row; 0 means 1
	Rows  [][]string
}

// lines returns the head, if any, and the rows.
func (t *Table) lines() [][]string {
	if len(t.Head) == 0 {
		return t.Rows
	}
	return append([][]string{t.Head}, t.Rows...)
}

// Bounds of the text form, in characters.
const (
	textWidth = term.Width
	textGap   = 2
	maxCell   = maxName
	maxKey    = 36 // of the first column, if it alone names a row: no figure has a longer name
)

// textRows returns the lines with each cell as one text of bounded length.
func (t *Table) textRows() (rows [][]string, width []int) {
	limit := func(i int) int {
		if i == 0 && t.Keys < 2 {
			return maxKey
		}
		return maxCell
	}
	for _, row := range t.lines() {
		out := make([]string, len(row))
		for i, cell := range row {
			parts := strings.Split(cell, noteMark)
			out[i] = term.Shorten(strings.Join(parts[:min(len(parts), 2)], " "), limit(i))
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(out[i]))
		}
		rows = append(rows, out)
	}
	return rows, width
}

// writeText writes the table with aligned columns, without its title. Columns
// that do not fit into the width follow below, each time with the keys.
func (t *Table) writeText(b *strings.Builder) {
	rows, width := t.textRows()
	keys := max(t.Keys, 1)
	for from := keys; from == keys || from < len(width); {
		to, used := from, -textGap
		for _, w := range width[:min(keys, len(width))] {
			used += w + textGap
		}
		for to < len(width) && (to == from || used+textGap+width[to] <= textWidth) {
			used += textGap + width[to]
			to++
		}
		if from > keys {
			b.WriteByte('\n')
		}
		for _, row := range rows {
			writeTextRow(b, row, width, keys, from, to)
		}
		from = max(to, from+1)
	}
}

// writeTextRow writes the keys of row, and the cells from, up to but not including to.
func writeTextRow(b *strings.Builder, row []string, width []int, keys, from, to int) {
	var line strings.Builder
	for i, cell := range row {
		if i < keys || i >= from && i < to {
			line.WriteString(cell + strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)+textGap))
		}
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}
