package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/term"
)

// shares is who got how much of the floor.
type shares struct {
	Legend []legend
	Bars   []bar
	Head   []string
	Rows   [][]string
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

func ink(i int) string { return fmt.Sprintf("f%d", i%inks) }

// shares adds up choices by participant's id over all transcripts.
func (r *Report) shares() shares {
	by := map[string][]int{} // recorded, then by policy
	for _, t := range r.trials {
		for k := range len(r.Policies) + 1 {
			for i, n := range t.of(k - 1).chosen {
				id := t.h.seats[i].id
				if by[id] == nil {
					by[id] = make([]int, len(r.Policies)+1)
				}
				by[id][k] += n
			}
		}
	}
	var ids []string
	for id, n := range by {
		if slices.Max(n) > 0 {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(cmp.Compare(by[b][0], by[a][0]), cmp.Compare(a, b)) })
	s := shares{Head: append([]string{"participant"}, r.columns()...)}
	for i, id := range ids {
		if i < inks {
			s.Legend = append(s.Legend, legend{ink(i), term.Line(id)})
		}
		row := []string{term.Line(id)}
		for _, n := range by[id] {
			row = append(row, thousands(n))
		}
		s.Rows = append(s.Rows, row)
	}
	for k, name := range r.columns() {
		s.Bars = append(s.Bars, barOf(name, ids, func(id string) int { return by[id][k] }))
	}
	return s
}

// columns names the recorded history and the policies.
func (r *Report) columns() []string {
	names := []string{"recorded"}
	for i := range r.Policies {
		names = append(names, term.Line(r.Policies[i].Policy))
	}
	return names
}

// barOf shows those with a colour; the rest stays grey.
func barOf(name string, ids []string, of func(string) int) bar {
	const width = 600
	total := 0
	for _, id := range ids {
		total += of(id)
	}
	b := bar{Name: name, Label: name + ", see the table"}
	x := 0
	for i, id := range ids[:min(len(ids), inks)] {
		if total == 0 {
			break
		}
		w := width * of(id) / total
		b.Parts = append(b.Parts, part{ink(i), fmt.Sprintf("%s %s", term.Line(id), percent(float64(of(id))/float64(total))), x, w})
		x += w
	}
	return b
}

// curves is tokens over time.
type curves struct {
	Curves     []curve
	Most, Unit string
	Head       []string
	Rows       [][]string
}

type curve struct{ Class, Name, Path string }

// curves adds up the tokens of prompts: by transcript, or by decision when
// there is but one.
func (r *Report) curves() curves {
	c := curves{Unit: "transcripts", Head: append([]string{"up to"}, r.columns()...)}
	var series [][]float64
	most := 1.0
	for k := range len(r.Policies) + 1 {
		s := r.cumulative(k - 1)
		series = append(series, s)
		if len(s) > 0 {
			most = max(most, s[len(s)-1])
		}
	}
	if len(r.trials) == 1 {
		c.Unit = "decisions"
	}
	c.Most = tokens(most)
	for k, name := range r.columns() {
		c.Curves = append(c.Curves, curve{fmt.Sprintf("s%d", k%inks), name, pathOf(series[k], most)})
	}
	n := len(series[0])
	for _, q := range []int{25, 50, 75, 100} {
		if at := (n*q + 99) / 100; at > 0 {
			row := []string{fmt.Sprintf("%d %%, %s %s", q, thousands(at), c.Unit)}
			for _, s := range series {
				row = append(row, tokens(s[at-1]))
			}
			c.Rows = append(c.Rows, row)
		}
	}
	return c
}

func (r *Report) cumulative(subject int) []float64 {
	var out []float64
	sum := 0.0
	for _, t := range r.trials {
		s := t.of(subject)
		if len(r.trials) > 1 {
			sum += s.sums[sTokens]
			out = append(out, sum)
			continue
		}
		for i := range s.answers {
			if i < len(s.tokens) {
				sum += float64(s.tokens[i])
			}
			out = append(out, sum)
		}
	}
	return out
}

// pathOf draws values into 720 by 170, at most one point for two units.
func pathOf(values []float64, most float64) string {
	var b strings.Builder
	b.WriteString("M0 170")
	step := max(1, len(values)/360)
	for i := 0; i < len(values); i += step {
		j := min(i+step, len(values)) - 1
		fmt.Fprintf(&b, "L%.1f %.1f", 720*float64(j+1)/float64(len(values)), 170-165*values[j]/most)
	}
	return b.String()
}
