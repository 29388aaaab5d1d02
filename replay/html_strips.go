package replay

import (
	"fmt"

	"github.com/folkmoot/moot/internal/term"
)

// strips shows one transcript decision by decision.
type strips struct {
	Name   string
	Open   bool
	Legend []legend
	Rows   []stripPicture
	Head   []string
	Table  []stripRow // of the decisions in which somebody differs
}

type stripPicture struct {
	Name  string
	W, H  int
	Cells []cell
}

type cell struct {
	X, Y               int
	Class, Title, Link string
}

type stripRow struct {
	ID   string
	N    int
	Says []string
}

// Geometry of a strip: cells of 8 in a grid of 10.
const (
	perRow = 70
	pitch  = 10
)

func (r *Report) strips(number int) strips {
	t := &r.Strips[number]
	s := strips{Name: term.Line(t.Transcript), Open: number == 0, Head: append([]string{"decision"}, r.columns()...)}
	for i, id := range t.Participants {
		if i < inks {
			s.Legend = append(s.Legend, legend{ink(i), term.Line(id)})
		}
	}
	n := 0
	for _, row := range t.Rows {
		n = max(n, len(row.Said))
	}
	shown := make([]bool, n)
	simulated := r.Mode == ModeSimulate
	for k, name := range r.columns() {
		if k >= len(t.Rows) {
			break
		}
		said := t.Rows[k].Said
		x := stripPicture{Name: name, W: perRow * pitch, H: pitch * max(1, (len(said)+perRow-1)/perRow)}
		for i := range said {
			c := t.cell(k, i)
			if shown[i] = shown[i] || simulated || c.Link != ""; c.Link != "" {
				c.Link = fmt.Sprintf("t%d-%d", number, i+1)
			}
			x.Cells = append(x.Cells, c)
		}
		s.Rows = append(s.Rows, x)
	}
	for i := range shown {
		if shown[i] {
			s.Table = append(s.Table, stripRow{fmt.Sprintf("t%d-%d", number, i+1), i + 1, t.says(i, len(r.Policies)+1)})
		}
	}
	if simulated {
		for k := range s.Rows {
			for i := range s.Rows[k].Cells {
				s.Rows[k].Cells[i].Link = fmt.Sprintf("t%d-%d", number, i+1)
			}
		}
	}
	return s
}

// cell is one decision of a row. Its Link is not empty when it differs from
// the recorded.
func (t *Strip) cell(k, i int) cell {
	a := answer(t.Rows[k].Said[i])
	c := cell{X: 1 + pitch*(i%perRow), Y: 1 + pitch*(i/perRow), Title: fmt.Sprintf("%d: %s", i+1, t.nameOf(a))}
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
	if recorded := t.Rows[0].Said; k > 0 && t.Judged && i < len(recorded) && t.Rows[k].Said[i] != recorded[i] {
		c.Class += " flip"
		c.Link = "differs"
	}
	return c
}

func (t *Strip) nameOf(a answer) string {
	switch {
	case a == declined:
		return "decline"
	case a == finished:
		return "finish"
	case a.speaks() && int(a) < len(t.Participants):
		return term.Line(t.Participants[a])
	}
	return "error"
}

// says is what each of the columns says at a decision, and why.
func (t *Strip) says(i, columns int) []string {
	out := make([]string, columns)
	for k := range out {
		if k >= len(t.Rows) || i >= len(t.Rows[k].Said) {
			continue
		}
		out[k] = t.nameOf(answer(t.Rows[k].Said[i]))
		if why := t.Rows[k].Why; i < len(why) && why[i] >= 0 && int(why[i]) < len(t.Reasons) {
			out[k] += ": " + term.Line(t.Reasons[why[i]])
		}
	}
	return out
}
