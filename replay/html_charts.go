package replay

import (
	"fmt"
	"math"
	"strings"

	"github.com/folkmoot/moot/internal/term"
)

// shares is who got how much of the floor.
type shares struct {
	Legend []legend
	Bars   []bar
	Table  rows
}

type legend struct{ Class, Name string }

type bar struct {
	Name, Label string
	Parts       []part
}

type part struct {
	Class, Title string
	X, W         int
}

// inks is how many colours there are.
const inks = 8

func ink(i int) string  { return fmt.Sprintf("f%d", i%inks) }
func edge(i int) string { return fmt.Sprintf("s%d", i%inks) }

func (r *Report) shares() shares {
	s := shares{Table: rows{Head: append([]string{"participant"}, r.columns()...)}}
	totals := make([]int, len(r.Policies)+1)
	for _, a := range r.Airtime {
		for k := range totals {
			totals[k] += at(a.Chosen, k)
		}
	}
	for i, a := range r.Airtime {
		if i < inks {
			s.Legend = append(s.Legend, legend{ink(i), term.Line(a.Participant)})
		}
		row := []string{term.Line(a.Participant)}
		for k, total := range totals {
			row = append(row, thousands(at(a.Chosen, k))+" · "+percent(ratio(float64(at(a.Chosen, k)), float64(total))))
		}
		s.Table.Rows = append(s.Table.Rows, row)
	}
	for k, name := range r.columns() {
		s.Bars = append(s.Bars, r.bar(name, k, totals[k]))
	}
	return s
}

func at(n []int, i int) int {
	if i < len(n) {
		return n[i]
	}
	return 0
}

// bar shows those with a colour; the rest stays grey.
func (r *Report) bar(name string, column, total int) bar {
	const width = 600
	b := bar{Name: name, Label: name + ", see the table"}
	sum := 0
	for i, a := range r.Airtime[:min(len(r.Airtime), inks)] {
		if total == 0 {
			break
		}
		n := at(a.Chosen, column)
		x := width * sum / total
		sum += n
		share := percent(float64(n) / float64(total))
		b.Parts = append(b.Parts, part{ink(i), term.Line(a.Participant) + " " + share, x, width*sum/total - x})
	}
	return b
}

// curves is lines in one picture, 720 by 180.
type curves struct {
	Curves                 []curve
	Label, Top, Left, Unit string
	Table                  rows
}

type curve struct{ Class, Name, Path string }

// tokenCurves shows the tokens of prompts, added up.
func (r *Report) tokenCurves() curves {
	c := curves{Label: "cumulative tokens, see the table", Unit: r.Curve.Unit, Table: rows{Head: append([]string{"up to"}, r.columns()...)}}
	most := 1.0
	for _, s := range r.Curve.Tokens {
		if len(s) > 0 {
			most = max(most, float64(s[len(s)-1]))
		}
	}
	c.Top = tokens(most)
	for k, name := range r.columns() {
		c.Curves = append(c.Curves, curve{edge(k), name, path(column(r.Curve.Tokens, k), most)})
	}
	for _, q := range []int{25, 50, 75, 100} {
		row := []string{fmt.Sprintf("%d %%, %s %s", q, thousands((r.Curve.Total*q+99)/100), c.Unit)}
		for k := range r.columns() {
			cell := "—"
			if s := column(r.Curve.Tokens, k); len(s) > 0 {
				cell = tokens(float64(s[(len(s)*q+99)/100-1]))
			}
			row = append(row, cell)
		}
		c.Table.Rows = append(c.Table.Rows, row)
	}
	return c
}

func column(all [][]int64, k int) []int64 {
	if k < len(all) {
		return all[k]
	}
	return nil
}

// path draws values into 720 by 170.
func path(values []int64, most float64) string {
	var b strings.Builder
	b.WriteString("M0 170")
	for i, v := range values {
		fmt.Fprintf(&b, "L%.1f %.1f", 720*float64(i+1)/float64(len(values)), 170-165*float64(v)/most)
	}
	return b.String()
}

// riskCurves shows how right a policy is where it is surest; nil when none
// says how sure it is.
func (r *Report) riskCurves() *curves {
	c := &curves{Label: "accuracy by coverage, see the table", Top: "100 %", Left: "answering the surest", Unit: "all"}
	c.Table.Head = []string{"answering the surest"}
	for i := range r.Policies {
		risk := r.Policies[i].Risk
		if risk == nil {
			continue
		}
		var b strings.Builder
		for j, p := range risk.Curve {
			fmt.Fprintf(&b, "%c%.1f %.1f", "ML"[min(j, 1)], 720*float64(p.Coverage), 170-165*float64(p.Accuracy))
		}
		name := term.Line(r.Policies[i].Policy)
		c.Curves = append(c.Curves, curve{edge(i + 1), name, b.String()})
		c.Table.Head = append(c.Table.Head, name+" (n, least confidence)")
	}
	if len(c.Curves) == 0 {
		return nil
	}
	for step := range riskSteps {
		c.Table.Rows = append(c.Table.Rows, r.riskRow(step))
	}
	return c
}

func (r *Report) riskRow(step int) []string {
	row := []string{fmt.Sprintf("%d %%", (step+1)*100/riskSteps)}
	for i := range r.Policies {
		if risk := r.Policies[i].Risk; risk != nil && step < len(risk.Curve) {
			p := risk.Curve[step]
			row = append(row, fmt.Sprintf("%s (%s, %s)", percent(float64(p.Accuracy)), thousands(p.N), decimal(float64(p.Confidence))))
		}
	}
	return row
}

// calibration is what was stated against what came out.
func (r *Report) calibration() rows {
	t := rows{Head: []string{"policy", "stated", "right", "n"}}
	for i := range r.Policies {
		p := &r.Policies[i]
		if p.Risk == nil {
			continue
		}
		for _, b := range p.Risk.Bins {
			t.Rows = append(t.Rows, []string{term.Line(p.Policy), percent(float64(b.Confidence)), percent(float64(b.Accuracy)), thousands(b.N)})
		}
		t.Rows = append(t.Rows, []string{term.Line(p.Policy), "expected calibration error", percent(float64(p.Risk.ECE)), thousands(p.Risk.Decisions)})
	}
	return t
}

// reasons is why one policy decided as it did.
type reasons struct {
	Name string
	Rows []reasonRow
}

type reasonRow struct {
	Text, Count string
	Width       int
}

func (r *Report) reasonBars() []reasons {
	var all []reasons
	for k, name := range r.columns() {
		p := &r.Recorded
		if k > 0 {
			p = &r.Policies[k-1]
		}
		x := reasons{Name: name}
		for _, y := range p.Reasons {
			share := ratio(float64(y.Count), float64(max(p.Decisions, 1)))
			x.Rows = append(x.Rows, reasonRow{term.Line(y.Reason), thousands(y.Count) + " · " + percent(share), int(math.Round(120 * min(share, 1)))})
		}
		if len(x.Rows) > 0 {
			all = append(all, x)
		}
	}
	return all
}
