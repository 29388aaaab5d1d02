package report

import (
	"cmp"
	"fmt"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/replay/score"
)

// differenceTable compares the later policies with the first. ~ marks what may
// be chance. Next to each difference is the smallest one that so many
// transcripts could show.
func (r *Report) differenceTable() Table {
	t := Table{Title: "Differences (~ may be chance)", Keys: 2, Head: []string{"policy", "figure", "difference", "interval", "adjusted p", "could show"}}
	one := r.Changes == nil && len(r.Policies) > 0 // all are compared with the first
	if one {
		t.Title = "Differences from " + shortName(r.Policies[0].Policy) + " (~ may be chance)"
	}
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if c.A == score.RecordedName {
			continue // part of the table of figures
		}
		factor, format := 100.0, percent
		if c.Figure == "tokens_a_decision" {
			factor, format = 1, integer
		}
		name := term.Line(c.B)
		if !one {
			name += " − " + term.Line(c.A)
		}
		t.Rows = append(t.Rows, []string{
			name, c.Figure, mark(c) + signedDecimal(factor*float64(c.Difference)), bounds(c.Interval, format), c.PText(), detectable(c, factor),
		})
	}
	return t
}

// detectable is the smallest difference that so many transcripts could show.
func detectable(c *score.Comparison, factor float64) string {
	if c.Detectable == nil {
		return ""
	}
	return fmt.Sprintf("%.1f", factor*float64(*c.Detectable))
}

// flipTable counts the decisions of each policy that differ from the recorded
// ones. A simulation has none.
func (r *Report) flipTable() Table {
	t := Table{Title: "Flips", Note: "Decisions other than recorded.", Head: []string{"policy", "flips", "speak→decline", "decline→speak", "other speaker"}}
	for i := range r.Policies {
		if f := &r.Policies[i].Flips; r.Mode != ModeSimulate && r.Policies[i].Unmeasured == "" {
			t.Rows = append(t.Rows, []string{
				term.Line(r.Policies[i].Policy), thousands(f.Total), thousands(f.SpeakToDecline), thousands(f.DeclineToSpeak), thousands(f.OtherSpeaker),
			})
		}
	}
	return t
}

// endingTable says how simulated rooms ended.
func (r *Report) endingTable() Table {
	t := Table{Title: "How the rooms ended", Head: []string{"policy", "ending", "rooms"}}
	for i := range r.Policies {
		if p := &r.Policies[i]; p.Run != nil {
			for _, e := range p.Run.Endings {
				t.Rows = append(t.Rows, []string{term.Line(p.Policy), term.Line(e.Ending), thousands(e.Rooms)})
			}
		}
	}
	return t
}

// windowTable is about the windows of the first n participants.
func (r *Report) windowTable(n int) Table {
	t := Table{Title: "Windows: tokens per turn (messages left out)", Head: []string{"participant", "turns"}}
	for i, s := range r.Windows[:min(n, len(r.Windows))] {
		row := []string{term.Line(s.Participant), thousands(s.Turns)}
		for _, b := range s.Budgets {
			if i == 0 {
				t.Head = append(t.Head, budgetName(b.Budget))
			}
			cell := thousands(int(b.Tokens) / max(1, s.Turns))
			if b.Omitted > 0 {
				cell = noted(cell, "("+thousands(b.Omitted)+")")
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func budgetName(tokens int) string {
	if tokens == 0 {
		return "whole"
	}
	return thousands(tokens)
}

func (r *Report) airtimeTable() Table {
	t := Table{Title: "Airtime by participant", Head: append([]string{"participant"}, r.columns()...)}
	totals := r.airtimeTotals()
	for _, a := range r.Airtime {
		row := []string{term.Line(a.Participant)}
		for k, total := range totals {
			n := valueAt(a.Chosen, k)
			row = append(row, thousands(n)+" · "+percent(score.Ratio(float64(n), float64(total))))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// airtimeTotals is how many choices each column has.
func (r *Report) airtimeTotals() []int {
	totals := make([]int, len(r.Policies)+1)
	for _, a := range r.Airtime {
		for k := range totals {
			totals[k] += valueAt(a.Chosen, k)
		}
	}
	return totals
}

// valueAt is 0 beyond the end of n: a report that was read may have too few.
func valueAt(n []int, i int) int {
	if i < len(n) {
		return n[i]
	}
	return 0
}

func (r *Report) tokenTable() Table {
	t := Table{Title: "Prompt tokens, cumulative (estimate)", Head: append([]string{"up to"}, r.columns()...)}
	for _, q := range []int{25, 50, 75, 100} {
		row := []string{fmt.Sprintf("%d %%, %s %s", q, thousands((r.Curve.Total*q+99)/100), r.Curve.Unit)}
		for k := range r.columns() {
			cell := missing
			if s := r.tokenColumn(k); len(s) > 0 {
				cell = tokens(float64(s[(len(s)*q+99)/100-1]))
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// tokenColumn is the cumulative tokens of a column; nil for none.
func (r *Report) tokenColumn(k int) []int64 {
	if k < len(r.Curve.Tokens) {
		return r.Curve.Tokens[k]
	}
	return nil
}

// riskTable is the accuracy by coverage of the policies that state a
// confidence. Without any it has no rows.
func (r *Report) riskTable() Table {
	t := Table{Title: "Risk and coverage", Head: []string{"coverage"}}
	if !r.statesConfidence() {
		return t
	}
	for i := range r.Policies {
		if r.Policies[i].Risk != nil {
			t.Head = append(t.Head, term.Line(r.Policies[i].Policy)+" (n, lowest confidence)")
		}
	}
	for step := range score.RiskSteps {
		row := []string{fmt.Sprintf("%d %%", (step+1)*100/score.RiskSteps)}
		for i := range r.Policies {
			if risk := r.Policies[i].Risk; risk != nil && step < len(risk.Curve) {
				p := risk.Curve[step]
				row = append(row, fmt.Sprintf("%s (%s, %s)", percent(float64(p.Accuracy)), thousands(p.N), decimal(float64(p.Confidence))))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// calibrationTable compares stated confidences with accuracies.
func (r *Report) calibrationTable() Table {
	t := Table{Title: "Calibration", Head: []string{"policy", "confidence", "accuracy", "n"}}
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

// clockNote says what the times are. Reports of older releases have elapsed
// times.
func (r *Report) clockNote() string {
	return "The times are " + cmp.Or(r.Clock, "elapsed time") + "."
}

func (r *Report) timeTable() Table {
	t := Table{Title: "Decision times", Note: r.clockNote(), Head: []string{"policy", "p50", "p99", "decisions", "repeated", "differing"}}
	for i := range r.Policies {
		p := &r.Policies[i]
		t.Rows = append(t.Rows, []string{
			term.Line(p.Policy), milliseconds(p.P50), milliseconds(p.P99), thousands(p.Decisions), thousands(p.Repeated), thousands(p.Differing),
		})
	}
	return t
}

func (r *Report) settingTable() Table {
	t := Table{Title: "Settings", Head: []string{"policy", "use", "SHA-256 of the module", "settings"}}
	for i := range r.Policies {
		p := &r.Policies[i]
		digest := p.Digest
		if p.Reference {
			digest = notSandboxed
		}
		t.Rows = append(t.Rows, []string{term.Line(p.Policy), term.Line(p.Use), digest, term.Line(p.Settings)})
	}
	return t
}

// flipPlace is the argument of `moot replay show` for a flip.
func flipPlace(f score.Flip) string {
	n := int64(f.Point)
	if f.Seq > 0 {
		n = f.Seq
	}
	return term.Line(fmt.Sprintf("%s#%d", f.Transcript, n))
}
