package roomcmd

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/term"
)

// A listing is a table whose last column is a text of any length. On a terminal the
// text is cut to its width; where the other columns do not fit, each row has lines of
// its own.
type listing[T any] struct {
	head []string
	row  func(T) []string
}

// minText is the narrowest last column of a table.
const minText = 16

// emitListing writes a result: v as JSON, or rows as a table for the terminal.
func emitListing[T any](a *commands, v any, l listing[T], rows []T) error {
	return a.Emit(v, func(w io.Writer) error { return l.write(w, app.Width(a.Stdout), rows) })
}

// write writes the rows of list for a terminal of that many columns; 0 is no terminal.
func (l listing[T]) write(w io.Writer, columns int, list []T) error {
	if len(list) == 0 {
		return nil
	}
	rows := app.Rows(list, l.row)
	for _, row := range rows {
		for i := range row {
			row[i] = term.Line(row[i])
		}
	}
	if columns == 0 {
		return app.Table(w, l.head, rows)
	}
	last := len(l.head) - 1
	rest := columns - usedColumns(l.head[:last], rows)
	if rest < minText {
		return l.writeNarrow(w, columns, rows)
	}
	for _, row := range rows {
		row[last] = cutRunes(row[last], rest)
	}
	return app.Table(w, l.head, rows)
}

// usedColumns returns the width of the columns of head.
func usedColumns(head []string, rows [][]string) (sum int) {
	for i, name := range head {
		width := utf8.RuneCountInString(name)
		for _, row := range rows {
			width = max(width, utf8.RuneCountInString(row[i]))
		}
		sum += width + 2
	}
	return sum
}

// writeNarrow writes each row as lines of its cells and a line of its text, which is
// cut.
func (l listing[T]) writeNarrow(w io.Writer, columns int, rows [][]string) error {
	var b strings.Builder
	last := len(l.head) - 1
	for _, row := range rows {
		b.WriteString(wrapCells(row[:last], columns))
		if text := strings.TrimSpace(row[last]); text != "" {
			b.WriteString("  " + cutRunes(text, max(1, columns-2)) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// wrapCells returns cells in lines of at most that many columns. A longer cell is cut.
func wrapCells(cells []string, columns int) string {
	var b strings.Builder
	line := ""
	for _, cell := range cells {
		switch cell = cutRunes(cell, max(1, columns-2)); {
		case line == "":
			line = cell
		case utf8.RuneCountInString(line+" "+cell) <= columns:
			line += " " + cell
		default:
			b.WriteString(line + "\n")
			line = "  " + cell
		}
	}
	return b.String() + line + "\n"
}
