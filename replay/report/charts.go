package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/replay/score"
)

// Charts have places in percent of their width, so that they fit any page.

// A legendEntry explains one color.
type legendEntry struct{ Class, Name string }

// colors is how many colors the style has.
const colors = 8

func fillClass(i int) string   { return fmt.Sprintf("f%d", i%colors) }
func strokeClass(i int) string { return fmt.Sprintf("s%d", i%colors) }

// An airtimeChart has a stacked bar for each column.
type airtimeChart struct {
	Legend []legendEntry
	Bars   []stackedBar
}

type stackedBar struct {
	Name, Label string
	Parts       []barPart
}

type barPart struct {
	Class, Title string
	X, W         float64
}

func (r *Report) airtimeChart() airtimeChart {
	var c airtimeChart
	for i, a := range r.Airtime[:min(len(r.Airtime), colors)] {
		c.Legend = append(c.Legend, legendEntry{fillClass(i), term.Line(a.Participant)})
	}
	totals := r.airtimeTotals()
	for k, name := range r.columns() {
		c.Bars = append(c.Bars, r.airtimeBar(name, k, totals[k]))
	}
	return c
}

// airtimeBar shows the participants that have a color; the others stay gray.
func (r *Report) airtimeBar(name string, column, total int) stackedBar {
	b := stackedBar{Name: name, Label: "airtime of " + name + ", see the table"}
	sum := 0
	at := func(n int) float64 { return math.Round(10_000*float64(n)/float64(total)) / 100 }
	for i, a := range r.Airtime[:min(len(r.Airtime), colors)] {
		if total == 0 {
			break
		}
		n := valueAt(a.Chosen, column)
		b.Parts = append(b.Parts, barPart{fillClass(i), term.Line(a.Participant) + " " + percent(float64(n)/float64(total)), at(sum), at(n)})
		sum += n
	}
	return b
}

// A curveChart has several lines in one chart of 100 by 100.
type curveChart struct {
	Curves                        []curve
	Label, Top, Half, Left, Right string
}

type curve struct{ Class, Name, Path string }

func (r *Report) tokenChart() curveChart {
	c := curveChart{Label: "cumulative tokens, see the table", Right: count(r.Curve.Total, strings.TrimSuffix(r.Curve.Unit, "s"))}
	most := 1.0
	for _, s := range r.Curve.Tokens {
		if len(s) > 0 {
			most = max(most, float64(s[len(s)-1]))
		}
	}
	c.Top, c.Half = tokens(most), tokens(most/2)
	for k, name := range r.columns() {
		c.Curves = append(c.Curves, curve{strokeClass(k), name, curvePath(r.tokenColumn(k), most)})
	}
	return c
}

// curvePath is an SVG path through values in 100 by 100.
func curvePath(values []int64, most float64) string {
	var b strings.Builder
	b.WriteString("M0 100")
	for i, v := range values {
		fmt.Fprintf(&b, "L%.1f %.1f", 100*float64(i+1)/float64(len(values)), 100-100*float64(v)/most)
	}
	return b.String()
}

// riskChart is nil when no policy states a confidence.
func (r *Report) riskChart() *curveChart {
	if !r.statesConfidence() {
		return nil
	}
	c := &curveChart{Label: "accuracy by coverage, see the table", Top: "100 %", Half: "50 %", Left: "the most confident", Right: "all"}
	for i := range r.Policies {
		risk := r.Policies[i].Risk
		if risk == nil {
			continue
		}
		var b strings.Builder
		for j, p := range risk.Curve {
			fmt.Fprintf(&b, "%c%.1f %.1f", "ML"[min(j, 1)], 100*float64(p.Coverage), 100-100*float64(p.Accuracy))
		}
		c.Curves = append(c.Curves, curve{strokeClass(i + 1), term.Line(r.Policies[i].Policy), b.String()})
	}
	return c
}

// A reasonChart shows how often one policy gave each reason.
type reasonChart struct {
	Name string
	Rows []reasonBar
}

type reasonBar struct {
	Text, Count string
	Share       float64
}

func (r *Report) reasonCharts() []reasonChart {
	var all []reasonChart
	for k, name := range r.columns() {
		p := r.result(k)
		c := reasonChart{Name: name}
		for _, x := range p.Reasons {
			share := score.Ratio(float64(x.Count), float64(max(p.Decisions, 1)))
			c.Rows = append(c.Rows, reasonBar{term.Line(x.Reason), thousands(x.Count) + " · " + percent(share), points100(score.Figure(share))})
		}
		if len(c.Rows) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// A matrix is a table of shares with a bar in each cell.
type matrix struct {
	Names []string
	Rows  []matrixRow
}

type matrixRow struct {
	Name  string
	Cells []matrixCell
}

type matrixCell struct {
	Head  string
	Share float64
	Text  string
}

// matrix shows the agreement of the policies. A pair that was not replayed
// together has no cell text.
func (r *Report) matrix() matrix {
	m := matrix{Names: r.columns()}
	for i, row := range r.Agreement[:min(len(r.Agreement), len(m.Names))] {
		x := matrixRow{Name: m.Names[i]}
		for j, f := range row[:min(len(row), len(m.Names))] {
			c := matrixCell{Head: m.Names[j], Share: points100(f)}
			if !f.IsNone() {
				c.Text = percent(float64(f))
			}
			x.Cells = append(x.Cells, c)
		}
		m.Rows = append(m.Rows, x)
	}
	return m
}

// A histogram shows the decision times of one policy.
type histogram struct {
	Name, Label string
	Bars        []histogramBar
	From, To    string
}

type histogramBar struct {
	X, W, Y, H float64 // X and W in percent
	Title      string
}

// histograms share one axis, so that they can be compared by eye.
func (r *Report) histograms() []histogram {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range r.Policies {
		for _, s := range r.Policies[i].Times {
			if s.Count > 0 {
				x := math.Log2(float64(s.MS))
				lo, hi = min(lo, x-0.5), max(hi, x)
			}
		}
	}
	var all []histogram
	for i := range r.Policies {
		if p := &r.Policies[i]; len(p.Times) > 0 {
			all = append(all, newHistogram(p, lo, hi))
		}
	}
	return all
}

// newHistogram draws bars of at most 60 pixels. The axis of times is
// logarithmic.
func newHistogram(p *score.Result, lo, hi float64) histogram {
	const height = 60
	name := term.Line(p.Policy)
	h := histogram{Name: name, Label: "decision times of " + name + ", see the table", From: duration(math.Exp2(lo)), To: duration(math.Exp2(hi))}
	most := 1
	for _, s := range p.Times {
		most = max(most, s.Count)
	}
	unit := 100 / max(hi-lo, 0.5)
	for _, s := range p.Times {
		if s.Count == 0 {
			continue
		}
		high := max(1, height*float64(s.Count)/float64(most))
		end := math.Log2(float64(s.MS))
		h.Bars = append(h.Bars, histogramBar{
			X: math.Round(10*unit*(end-0.5-lo)) / 10, W: math.Round(9*unit*0.5) / 10, Y: math.Round(height - high), H: math.Round(high),
			Title: fmt.Sprintf("up to %s: %s", duration(float64(s.MS)), thousands(s.Count)),
		})
	}
	return h
}

// duration formats milliseconds.
func duration(ms float64) string {
	if ms < 0.1 {
		return fmt.Sprintf("%.0f µs", 1000*ms)
	}
	return fmt.Sprintf("%.2g ms", ms)
}
