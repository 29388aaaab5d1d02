package report

import (
	"fmt"
	"math"
)

// A forest is a plot of differences from the first policy with their intervals
// (Lewis and Clarke, BMJ 2001). Places are in percent of the width.
type forest struct {
	First  string
	Groups []forestGroup
	Zero   float64
	Marks  []forestMark
}

type forestGroup struct {
	Title string
	Rows  []forestRow
}

type forestRow struct {
	Policy, Value, Label string
	Tone                 tone
	At, From, To         float64
	HasRange             bool
}

// Class is the tone of a row in HTML.
func (f forestRow) Class() string { return string(f.Tone) }

type forestMark struct {
	At    float64
	Text  string
	Minor bool // has no room on a narrow page
}

// forest is nil when no two policies are compared.
func (r *Report) forest() *forest {
	if len(r.Policies) < 2 || r.Changes != nil {
		return nil
	}
	f := &forest{First: shortName(r.Policies[0].Policy)}
	lo, hi := 0.0, 0.0
	var all [][]delta
	for _, c := range comparedFigures {
		g := forestGroup{Title: c.title}
		var deltas []delta
		for i := 1; i < len(r.Policies); i++ {
			d, ok := r.between(i, 0, c.key)
			if !ok {
				continue
			}
			g.Rows = append(g.Rows, r.forestRow(i, d, c.tone))
			deltas = append(deltas, d)
			lo, hi = min(lo, d.value), max(hi, d.value)
			if d.hasRange() {
				lo, hi = min(lo, d.from), max(hi, d.to)
			}
		}
		if len(g.Rows) > 0 {
			f.Groups, all = append(f.Groups, g), append(all, deltas)
		}
	}
	if len(f.Groups) == 0 {
		return nil
	}
	f.place(all, lo, hi)
	return f
}

func (r *Report) forestRow(i int, d delta, higher tone) forestRow {
	row := forestRow{Policy: shortName(r.Policies[i].Policy), Value: signedDecimal(d.value), Tone: d.tone(higher), HasRange: d.hasRange()}
	row.Label = fmt.Sprintf("%s: %s", row.Policy, row.Value)
	if row.HasRange {
		row.Label += fmt.Sprintf(", interval %s to %s", signedDecimal(d.from), signedDecimal(d.to))
	}
	return row
}

// place sets the places of all rows for values from lo to hi.
func (f *forest) place(all [][]delta, lo, hi float64) {
	step := 1.0
	for i, factors := 0, []float64{2, 2.5, 2}; (hi-lo)/step > 6; i++ { // 1, 2, 5, 10, 20 ...
		step *= factors[i%len(factors)]
	}
	lo, hi = step*math.Floor(lo/step-0.25), step*math.Ceil(hi/step+0.25)
	at := func(x float64) float64 { return math.Round(1000*(x-lo)/(hi-lo)) / 10 }
	for i := range f.Groups {
		for j, d := range all[i] {
			row := &f.Groups[i].Rows[j]
			row.At, row.From, row.To = at(d.value), at(d.from), at(d.to)
		}
	}
	f.Zero = at(0)
	for x := lo + step; x < hi-step/2; x += step {
		text := signed(int(math.Round(x)))
		if math.Abs(x) < step/2 {
			text = "0"
		}
		f.Marks = append(f.Marks, forestMark{at(x), text, int(math.Round(x/step))%2 != 0})
	}
}

// Word says the tone of a row.
func (f forestRow) Word() string {
	return map[tone]string{better: "better", worse: "worse", chance: "may be chance", neutral: ""}[f.Tone]
}
