package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/replay/score"
)

// notSandboxed describes a baseline.
const notSandboxed = "not sandboxed: reference"

// A line describes one row of the table of figures.
type line struct {
	name     string
	n        func(*Report) string // decisions measured; nil when policies differ
	recorded func(*Report) string // nil for nothing to say
	policy   func(*Report, *score.Result) string
}

// figureTable is the main table: one row for each figure, one column for each
// policy.
func (r *Report) figureTable() Table {
	t := Table{Title: "Figures", Head: []string{"", "n", score.RecordedName}}
	for _, p := range r.Policies {
		t.Head = append(t.Head, term.Line(p.Policy))
	}
	for _, l := range r.lines() {
		row := []string{l.name, "", missing}
		if l.n != nil {
			row[1] = l.n(r)
		}
		if l.recorded != nil {
			row[2] = l.recorded(r)
		}
		for i := range r.Policies {
			row = append(row, l.policy(r, &r.Policies[i]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (r *Report) lines() []line {
	all := simulationLines()
	if r.Mode != ModeSimulate {
		all = append(
			[]line{
				figureLine("same choice", "accuracy", percent, false),
				figureLine("  mean of transcripts", "macro_accuracy", percent, false),
				figureLine("  recorded speaker had spoken", "accuracy_seen", percent, false),
				figureLine("  of those not declined", "selective_accuracy", percent, false),
				figureLine("mean reciprocal rank", "mrr", decimal, false),
				figureLine("speak or silence, balanced", "balanced_accuracy", percent, false),
			},
			r.riskLines()...,
		)
	}
	return append(
		all,
		line{
			name: "declines", recorded: func(r *Report) string { return thousands(r.Recorded.Declines) }, policy: declineCell,
			n: func(r *Report) string { return r.decisionsMeasured("decline_rate") },
		},
		figureLine("airtime: top speaker", "top_speaker", percent, true),
		figureLine("airtime: gini", "gini", decimal, true),
		figureLine("airtime: entropy", "entropy", decimal, true),
		figureLine("addressed but not chosen", "addressed_not_chosen", percent, true),
		sumLine("prompt tokens (~ estimate)", tokens, func(p *score.Result) int64 { return p.Tokens }),
		sumLine("cost of prompts (~ estimate)", money, func(p *score.Result) int64 { return p.Cost }),
		line{name: "decision p50 / p99", policy: func(_ *Report, p *score.Result) string {
			if p.P50.IsNone() {
				return missing
			}
			return fmt.Sprintf("%.3f / %.3f ms", float64(p.P50), float64(p.P99))
		}},
		line{name: "repeated, same bytes", policy: repeatedCell},
		line{
			name: "errors", recorded: func(r *Report) string { return thousands(r.Recorded.Errors) },
			policy: func(_ *Report, p *score.Result) string { return thousands(p.Errors) },
		},
		line{name: "sandbox", policy: func(_ *Report, p *score.Result) string {
			if p.Reference {
				return notSandboxed
			}
			return "yes"
		}},
	)
}

// figureLine is a row for one figure of each policy, with its interval. With
// recorded it has the figure of the recorded decisions and the p-value of the
// difference too.
func figureLine(name, key string, format func(float64) string, recorded bool) line {
	l := line{name: name, n: func(r *Report) string { return r.decisionsMeasured(key) }}
	if recorded {
		l.recorded = func(r *Report) string {
			f, _ := r.Recorded.Figure(key)
			return format(float64(f))
		}
	}
	l.policy = func(r *Report, p *score.Result) string {
		f, _ := p.Figure(key)
		s := format(float64(f))
		if s == missing {
			return s
		}
		if i := p.Intervals[key]; !i[0].IsNone() {
			s += " " + bounds(i, format)
		}
		if c := r.withRecorded(p.Policy, key); c != nil && recorded && c.Difference != 0 {
			s += " " + mark(c) + "p=" + number(c.P)
		}
		if r.decisionsMeasured(key) == "" {
			s += " n=" + thousands(p.N[key])
		}
		return s
	}
	return l
}

// decisionsMeasured is how many decisions a figure measures, or "" when
// policies differ in that.
func (r *Report) decisionsMeasured(key string) string {
	n := 0
	for i := range r.Policies {
		if m := r.Policies[i].N[key]; i == 0 {
			n = m
		} else if m != n {
			return ""
		}
	}
	return thousands(n)
}

// declineCell is how often a policy declined, and how much more often than
// recorded.
func declineCell(r *Report, p *score.Result) string {
	c := r.withRecorded(p.Policy, "decline_rate")
	more, chance := p.Declines-r.Recorded.Declines, ""
	if more != 0 {
		chance = mark(c)
	}
	s := fmt.Sprintf("%s (%s%s)", thousands(p.Declines), chance, signed(more))
	if c != nil && c.Difference != 0 {
		s += " p=" + number(c.P)
	}
	return s
}

func repeatedCell(_ *Report, p *score.Result) string {
	switch {
	case p.Reference:
		return missing
	case p.Differing > 0:
		return fmt.Sprintf("NO: %s of %s differ", thousands(p.Differing), thousands(p.Repeated))
	}
	return fmt.Sprintf("yes (%s)", thousands(p.Repeated))
}

// sumLine is a row for a total, with the difference from the recorded one in
// percent.
func sumLine(name string, format func(float64) string, of func(*score.Result) int64) line {
	return line{
		name: name, recorded: func(r *Report) string { return format(float64(of(&r.Recorded))) },
		policy: func(r *Report, p *score.Result) string {
			was, is := float64(of(&r.Recorded)), float64(of(p))
			if was == 0 {
				return format(is)
			}
			more, chance := int(math.Round(100*(is-was)/was)), ""
			if more != 0 {
				chance = mark(r.withRecorded(p.Policy, "tokens_a_decision"))
			}
			return fmt.Sprintf("%s (%s%s %%)", format(is), chance, signed(more))
		},
	}
}

// riskLines are about policies that state a confidence.
func (r *Report) riskLines() []line {
	if !r.statesConfidence() {
		return nil
	}
	var all []line
	for _, q := range []int{25, 50, 75, 100} {
		all = append(all, riskLine(fmt.Sprintf("accuracy, most confident %d %%", q), func(x *score.Risk) (score.Figure, int) {
			return x.At(q), (x.Decisions*q + 99) / 100
		}))
	}
	return append(all, riskLine("calibration error", func(x *score.Risk) (score.Figure, int) { return x.ECE, x.Decisions }))
}

func (r *Report) statesConfidence() bool {
	return slices.ContainsFunc(r.Policies, func(p score.Result) bool { return p.Risk != nil })
}

func riskLine(name string, of func(*score.Risk) (score.Figure, int)) line {
	return line{name: name, policy: func(_ *Report, p *score.Result) string {
		if p.Risk == nil {
			return missing
		}
		f, n := of(p.Risk)
		return fmt.Sprintf("%s n=%s", percent(float64(f)), thousands(n))
	}}
}

// simulationLines are about simulated rooms.
func simulationLines() []line {
	row := func(name string, of func(*score.Simulated) int) line {
		return line{
			name: name, recorded: func(r *Report) string { return thousands(of(r.Recorded.Run)) },
			policy: func(_ *Report, p *score.Result) string { return thousands(of(p.Run)) },
		}
	}
	return []line{
		row("turns", func(s *score.Simulated) int { return s.Turns }),
		row("  lines posted", func(s *score.Simulated) int { return s.Said }),
		row("  passed, no lines left", func(s *score.Simulated) int { return s.Passed }),
		row("  failed", func(s *score.Simulated) int { return s.Failed }),
		row("lines not posted", func(s *score.Simulated) int { return s.Unspoken }),
	}
}
