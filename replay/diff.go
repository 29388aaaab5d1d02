package replay

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/problem"
)

// maxReport bounds a report that is read back, in bytes.
const maxReport = 256 << 20

// ReadReport reads the JSON form of a report. name stands for the file in
// errors. Unknown fields are tolerated: newer releases add some.
func ReadReport(r io.Reader, name string) (*Report, error) {
	bad := func(what string, err error) (*Report, error) {
		return nil, &problem.Error{
			Code: "REPLAY-REPORT", What: what, Where: name, Err: err,
			Fix: "give a file that `moot replay ... -o json` wrote",
		}
	}
	b, err := io.ReadAll(io.LimitReader(r, maxReport+1))
	switch {
	case err != nil:
		return bad("the report cannot be read", err)
	case len(b) > maxReport:
		return bad(fmt.Sprintf("the report is larger than %d MiB", maxReport>>20), nil)
	}
	out := &Report{}
	if err := json.Unmarshal(b, out); err != nil {
		return bad("the file is no report", err)
	}
	if out.Version < 1 || out.Version > ReportVersion {
		return bad(fmt.Sprintf("version %d of the report; this moot reads 1 to %d", out.Version, ReportVersion), nil)
	}
	return out, nil
}

// A Changes says how two reports differ, A the first and B the second.
type Changes struct {
	Version  int      `json:"moot_replay_diff"`
	Same     bool     `json:"same"`
	Warnings []string `json:"warnings,omitempty"` // why they may not be comparable
	Changes  []Change `json:"changes"`
}

// A Change is one figure of one policy that differs.
type Change struct {
	Policy string `json:"policy"`
	Figure string `json:"figure"`
	A      Figure `json:"a"`
	B      Figure `json:"b"`
	Beyond bool   `json:"beyond"` // B's figure lies outside A's interval
}

// timed are figures that differ at every run and are no change.
var timed = map[string]bool{"p50_ms": true, "p99_ms": true}

// Diff compares the policies that both reports have, by name. Times are left
// out.
func Diff(a, b *Report) *Changes {
	d := &Changes{Version: ReportVersion, Changes: []Change{}}
	d.warn(a, b)
	for i := range a.Policies {
		p := &a.Policies[i]
		q := b.policy(p.Policy)
		if q == nil {
			d.Warnings = append(d.Warnings, fmt.Sprintf("policy %s is in the first report only", p.Policy))
			continue
		}
		if p.Digest != q.Digest {
			d.Warnings = append(d.Warnings, fmt.Sprintf("policy %s is another module", p.Policy))
		}
		if p.Settings != q.Settings {
			d.Warnings = append(d.Warnings, fmt.Sprintf("policy %s has other settings", p.Policy))
		}
		d.figures(p, q)
	}
	for i := range b.Policies {
		if p := b.Policies[i].Policy; a.policy(p) == nil {
			d.Warnings = append(d.Warnings, fmt.Sprintf("policy %s is in the second report only", p))
		}
	}
	d.Same = len(d.Changes) == 0 && len(d.Warnings) == 0
	return d
}

func (r *Report) policy(name string) *Result {
	for i := range r.Policies {
		if r.Policies[i].Policy == name {
			return &r.Policies[i]
		}
	}
	return nil
}

func (d *Changes) warn(a, b *Report) {
	if a.Conversations != b.Conversations || a.Decisions != b.Decisions {
		d.Warnings = append(d.Warnings, fmt.Sprintf("the first is about %s of %s, the second about %s of %s",
			count(a.Decisions, "decision"), count(a.Conversations, "transcript"), count(b.Decisions, "decision"), count(b.Conversations, "transcript")))
	}
	if a.Mode != b.Mode || a.Points != b.Points {
		d.Warnings = append(d.Warnings, "the reports are of other modes or decision points")
	}
}

func (d *Changes) figures(p, q *Result) {
	for _, name := range Figures() {
		x, y := *figureOf(p, name), *figureOf(q, name)
		if timed[name] || x == y || math.IsNaN(float64(x)) && math.IsNaN(float64(y)) {
			continue
		}
		i, ok := p.Intervals[name]
		d.Changes = append(d.Changes, Change{
			Policy: p.Policy, Figure: name, A: x, B: y,
			Beyond: ok && !math.IsNaN(float64(i[0])) && (y < i[0] || y > i[1]),
		})
	}
}

func (d *Changes) head() []string {
	return []string{"policy", "figure", "first", "second", "difference", ""}
}

func (d *Changes) rows() [][]string {
	var all [][]string
	for _, c := range d.Changes {
		mark := "~" // within what chance explains
		if c.Beyond {
			mark = "beyond the interval"
		}
		all = append(all, []string{term.Line(c.Policy), c.Figure, number(float64(c.A)), number(float64(c.B)), number(float64(c.B - c.A)), mark})
	}
	return all
}

// WriteTable writes the changes for people.
func (d *Changes) WriteTable(w io.Writer) error {
	var b strings.Builder
	for _, s := range d.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", term.Line(s))
	}
	if len(d.Changes) == 0 {
		b.WriteString("no figure differs\n")
	} else {
		append(grid{d.head()}, d.rows()...).write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
