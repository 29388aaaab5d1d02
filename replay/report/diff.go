package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/replay/score"
)

// Changes says how two reports differ, A the first and B the second.
type Changes struct {
	Version  int      `json:"moot_replay_diff"`
	Same     bool     `json:"same"`
	Warnings []string `json:"warnings,omitempty"` // why they may not be comparable
	Changes  []Change `json:"changes"`
	Compared int      `json:"compared"` // figures that both reports have
}

// A Change is one figure of one policy that differs.
type Change struct {
	Policy string       `json:"policy"`
	Figure string       `json:"figure"`
	A      score.Figure `json:"a"`
	B      score.Figure `json:"b"`
	Beyond bool         `json:"beyond"` // B's figure is outside of A's interval
}

// timeFigures differ at every run, so they are not compared.
var timeFigures = map[string]bool{"p50_ms": true, "p99_ms": true}

// Diff compares the policies that both reports have, by name. Times are left
// out.
func Diff(a, b *Report) *Changes {
	d := &Changes{Version: Version, Changes: []Change{}}
	if a.Conversations != b.Conversations || a.Decisions != b.Decisions {
		d.warn("the first is about %s of %s, the second about %s of %s",
			count(a.Decisions, "decision"), count(a.Conversations, "transcript"), count(b.Decisions, "decision"), count(b.Conversations, "transcript"))
	}
	if a.Mode != b.Mode || a.Points != b.Points {
		d.warn("the reports have different modes or decision points")
	}
	if a.Mode != b.Mode {
		return d // a what-if and a simulation share no figure
	}
	for i := range a.Policies {
		p := &a.Policies[i]
		q := b.policy(p.Policy)
		if q == nil {
			d.warn("policy %s is in the first report only", p.Policy)
			continue
		}
		if p.Digest != q.Digest {
			d.warn("policy %s is another module", p.Policy)
		}
		if p.Settings != q.Settings {
			d.warn("policy %s has other settings", p.Policy)
		}
		d.addFigures(p, q)
	}
	for i := range b.Policies {
		if p := b.Policies[i].Policy; a.policy(p) == nil {
			d.warn("policy %s is in the second report only", p)
		}
	}
	d.Same = len(d.Changes) == 0 && len(d.Warnings) == 0
	return d
}

func (d *Changes) warn(format string, args ...any) {
	d.Warnings = append(d.Warnings, fmt.Sprintf(format, args...))
}

func (d *Changes) addFigures(p, q *score.Result) {
	for _, name := range score.FigureNames() {
		x, _ := p.Figure(name)
		y, _ := q.Figure(name)
		if timeFigures[name] || x.IsNone() && y.IsNone() {
			continue
		}
		if !x.IsNone() && !y.IsNone() {
			d.Compared++
		}
		if x == y {
			continue
		}
		i, ok := p.Intervals[name]
		d.Changes = append(d.Changes, Change{
			Policy: p.Policy, Figure: name, A: x, B: y,
			Beyond: ok && !i[0].IsNone() && (y < i[0] || y > i[1]),
		})
	}
}

func (d *Changes) table() Table {
	t := Table{Title: "Changes", Head: []string{"policy", "figure", "first", "second", "difference", ""}}
	for _, c := range d.Changes {
		mark := "~" // may be chance
		if c.Beyond {
			mark = "beyond the interval"
		}
		t.Rows = append(t.Rows, []string{term.Line(c.Policy), c.Figure, number(c.A), number(c.B), number(c.B - c.A), mark})
	}
	return t
}

// WriteText writes the changes for a terminal.
func (d *Changes) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, s := range d.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", term.Line(s))
	}
	switch {
	case d.Compared == 0: // the caller says so
	case len(d.Changes) == 0:
		b.WriteString("no figure differs\n")
	default:
		t := d.table()
		t.writeText(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
