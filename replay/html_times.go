package replay

import (
	"fmt"
	"math"

	"github.com/folkmoot/moot/internal/term"
)

// A histogram is how many decisions took how long.
type histogram struct {
	Name, Label string
	Bars        []histogramBar
	From, To    string
}

type histogramBar struct {
	X, Y, W, H float64
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
			all = append(all, p.histogram(lo, hi))
		}
	}
	return all
}

// histogram draws into 600 by 60; times run on a logarithmic axis.
func (p *Result) histogram(lo, hi float64) histogram {
	const width, height = 600, 60
	h := histogram{Name: term.Line(p.Policy), Label: "decision times of " + term.Line(p.Policy) + ", see the table", From: ms(math.Exp2(lo)), To: ms(math.Exp2(hi))}
	most := 1
	for _, s := range p.Times {
		most = max(most, s.Count)
	}
	unit := width / max(hi-lo, 0.5)
	for _, s := range p.Times {
		if s.Count == 0 {
			continue
		}
		high := max(1, height*float64(s.Count)/float64(most))
		end := math.Log2(float64(s.MS))
		h.Bars = append(h.Bars, histogramBar{
			X: math.Round(unit * (end - 0.5 - lo)), W: math.Round(unit*0.5) - 1, Y: math.Round(height - high), H: math.Round(high),
			Title: fmt.Sprintf("up to %s: %s", ms(float64(s.MS)), thousands(s.Count)),
		})
	}
	return h
}

func ms(x float64) string {
	if x < 0.1 {
		return fmt.Sprintf("%.0f µs", 1000*x)
	}
	return fmt.Sprintf("%.2g ms", x)
}

func (r *Report) timeTable() rows {
	t := rows{Head: []string{"policy", "p50", "p99", "decisions", "made twice", "differing"}}
	for i := range r.Policies {
		p := &r.Policies[i]
		t.Rows = append(t.Rows, []string{
			term.Line(p.Policy), millis(p.P50), millis(p.P99), thousands(p.Decisions), thousands(p.Repeated), thousands(p.Differing),
		})
	}
	return t
}

// millis is a time of a decision.
func millis(f Figure) string {
	if math.IsNaN(float64(f)) {
		return "—"
	}
	return fmt.Sprintf("%.3f ms", float64(f))
}
