package replay

import (
	"fmt"

	"github.com/folkmoot/moot/internal/term"
)

// strips shows one transcript decision by decision.
type strips struct {
	Name   string
	Legend []legend
	Rows   []strip
	Head   []string
	Table  []stripRow // of the decisions in which somebody differs
}

type strip struct {
	Name  string
	W, H  int
	Cells []cell
}

type cell struct {
	X, Y               int
	Class, Title, Link string
}

type stripRow struct {
	ID, Recorded string
	N            int
	Says         []string
}

// Geometry of a strip: cells of 8 in a grid of 10.
const (
	perRow = 70
	pitch  = 10
)

func (r *Report) strips(number int, t *trial) strips {
	s := strips{Name: term.Line(t.h.name), Head: append([]string{"decision"}, r.columns()...)}
	for i, seat := range t.h.seats {
		if i < inks {
			s.Legend = append(s.Legend, legend{ink(i), term.Line(seat.id)})
		}
	}
	n := min(len(t.recorded.answers), maxDetails)
	differs := make([]bool, n)
	for k, name := range r.columns() {
		x := strip{Name: name, W: perRow * pitch, H: pitch * ((n + perRow - 1) / perRow)}
		for i := range n {
			c := t.cell(k-1, i)
			if c.Link != "" {
				differs[i] = true
				c.Link = fmt.Sprintf("t%d-%d", number, i+1)
			}
			x.Cells = append(x.Cells, c)
		}
		s.Rows = append(s.Rows, x)
	}
	for i, differ := range differs {
		if differ {
			s.Table = append(s.Table, t.row(fmt.Sprintf("t%d-%d", number, i+1), i))
		}
	}
	return s
}

// cell is one decision of a policy, or with -1 of the recorded history. Its
// Link is not empty when it differs from the recorded.
func (t *trial) cell(subject, i int) cell {
	a := t.of(subject).answers[i]
	c := cell{X: 1 + pitch*(i%perRow), Y: 1 + pitch*(i/perRow), Title: fmt.Sprintf("%d: %s", i+1, term.Line(t.h.nameOf(a)))}
	switch {
	case a.speaks():
		c.Class = "cell " + ink(int(a))
	case a == finished:
		c.Class = "cell finish"
	case a == failed:
		c.Class = "cell error"
	default:
		c.Class = "decline"
	}
	if a != t.recorded.answers[i] {
		c.Class += " flip"
		c.Link = "differs"
	}
	return c
}

func (t *trial) row(id string, i int) stripRow {
	x := stripRow{ID: id, N: i + 1, Recorded: term.Line(t.h.nameOf(t.recorded.answers[i]))}
	for _, s := range t.scores {
		says := term.Line(t.h.nameOf(s.answers[i]))
		if i < len(s.reasons) && s.reasons[i] != "" {
			says += ": " + term.Line(s.reasons[i])
		}
		x.Says = append(x.Says, says)
	}
	return x
}
