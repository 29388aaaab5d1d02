package report

import (
	"fmt"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/replay/score"
)

// A stripChart shows one transcript decision by decision: a row of cells for
// each column, and a table of the decisions that differ.
type stripChart struct {
	Name   string
	Width  string // class of the table
	Legend []legendEntry
	Rows   []stripRow
	Head   []string
	Table  []decisionRow
}

type stripRow struct {
	Name  string
	W, H  int
	Cells []cell
}

// A cell is one decision. Link is the ID of a decisionRow, or "".
type cell struct {
	X, Y               int
	Class, Title, Link string
}

type decisionRow struct {
	ID        string
	N         int
	Decisions []tableCell // by column
}

const (
	cellsPerRow = 70
	cellPitch   = 10
)

func (r *Report) stripChart(number int) stripChart {
	t := &r.Strips[number]
	c := stripChart{Name: term.Line(t.Transcript), Head: append([]string{"decision"}, r.columns()...)}
	c.Width = widthClass(len(c.Head))
	for i, id := range t.Participants[:min(len(t.Participants), colors)] {
		c.Legend = append(c.Legend, legendEntry{fillClass(i), term.Line(id)})
	}
	n := 0
	for _, row := range t.Rows {
		n = max(n, len(row.Said))
	}
	simulated := r.Mode == ModeSimulate
	listed := make([]bool, n) // in the table
	for k, name := range r.columns() {
		if k >= len(t.Rows) {
			break
		}
		said := t.Rows[k].Said
		row := stripRow{Name: name, W: cellsPerRow * cellPitch, H: cellPitch * max(1, (len(said)+cellsPerRow-1)/cellsPerRow)}
		for i := range said {
			x, differs := newCell(t, k, i)
			if differs || simulated {
				listed[i] = true
				x.Link = decisionID(number, i)
			}
			row.Cells = append(row.Cells, x)
		}
		c.Rows = append(c.Rows, row)
	}
	for i := range listed {
		if listed[i] {
			c.Table = append(c.Table, decisionRow{decisionID(number, i), i + 1, decisionCells(t, i, c.Head[1:])})
		}
	}
	return c
}

func decisionID(strip, decision int) string { return fmt.Sprintf("t%d-%d", strip, decision+1) }

// newCell returns decision i of row k, and whether it differs from the recorded
// one.
func newCell(t *score.Strip, k, i int) (c cell, differs bool) {
	choice := history.Choice(t.Rows[k].Said[i])
	c = cell{X: 1 + cellPitch*(i%cellsPerRow), Y: 1 + cellPitch*(i/cellsPerRow), Title: fmt.Sprintf("%d: %s", i+1, choiceName(t, choice))}
	switch {
	case choice.Speaks():
		c.Class = "cell " + fillClass(int(choice))
	case choice == history.Finished:
		c.Class = "cell finish"
	case choice == history.Failed:
		c.Class = "cell error"
	default:
		c.Class = "decline"
	}
	recorded := t.Rows[0].Said
	if differs = k > 0 && t.Judged && i < len(recorded) && t.Rows[k].Said[i] != recorded[i]; differs {
		c.Class += " flip"
	}
	return c, differs
}

func choiceName(t *score.Strip, c history.Choice) string {
	switch {
	case c == history.Declined:
		return "decline"
	case c == history.Finished:
		return "finish"
	case c.Speaks() && int(c) < len(t.Participants):
		return term.Line(t.Participants[c])
	}
	return "error"
}

// decisionCells are the choice and the reason of each column at decision i.
func decisionCells(t *score.Strip, i int, columns []string) []tableCell {
	out := make([]tableCell, len(columns))
	for k := range out {
		out[k].Head = columns[k]
		if k >= len(t.Rows) || i >= len(t.Rows[k].Said) {
			continue
		}
		out[k].Value = choiceName(t, history.Choice(t.Rows[k].Said[i]))
		if why := t.Rows[k].Why; i < len(why) && why[i] >= 0 && int(why[i]) < len(t.Reasons) {
			out[k].Value += ": " + term.Line(t.Reasons[why[i]])
		}
	}
	return out
}
