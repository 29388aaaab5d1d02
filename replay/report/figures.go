package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/folkmoot/moot/replay/score"
)

// notSandboxed describes a baseline.
const notSandboxed = "not sandboxed"

// A line describes one row of the table of figures.
type line struct {
	name     string
	n        func(*Report) string // decisions measured; nil when policies differ
	recorded func(*Report) string // nil for nothing to say
	policy   func(*Report, *score.Result) string
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
		var note []string
		if i, ok := p.Intervals[key]; ok && !i[0].IsNone() {
			note = append(note, bounds(i, format))
		}
		if c := r.withRecorded(p.Policy, key); c != nil && recorded && c.Difference != 0 && c.PText() != "" {
			note = append(note, mark(c)+c.PText())
		}
		return noted(s, note...)
	}
	return l
}

// decisionsMeasured is how many decisions a figure measures: the fewest and the
// most, where policies differ in that.
func (r *Report) decisionsMeasured(key string) string {
	lo, hi := math.MaxInt, 0
	for i := range r.Policies {
		n := r.Policies[i].N[key]
		lo, hi = min(lo, n), max(hi, n)
	}
	if lo < hi {
		return thousands(lo) + "–" + thousands(hi)
	}
	return thousands(hi)
}

// declineCell is how often a policy declined, and how much more often than
// recorded.
func declineCell(r *Report, p *score.Result) string {
	if p.Unmeasured != "" {
		return missing
	}
	c := r.withRecorded(p.Policy, "decline_rate")
	more, chance := p.Declines-r.Recorded.Declines, ""
	if more != 0 {
		chance = mark(c)
	}
	note := []string{"(" + chance + signed(more) + ")"}
	if c != nil && c.Difference != 0 && c.PText() != "" {
		note = append(note, c.PText())
	}
	return noted(thousands(p.Declines), note...)
}

func repeatedCell(_ *Report, p *score.Result) string {
	switch {
	case p.Reference:
		return missing
	case p.Differing > 0:
		return fmt.Sprintf("NO: %s of %s differ", thousands(p.Differing), thousands(p.Repeated))
	case p.Repeated == 0:
		return missing
	}
	return noted("yes", "("+thousands(p.Repeated)+")")
}

// sumLine is a row for a total, with the difference from the recorded one in
// percent. tested is the figure whose comparison tells whether it may be chance;
// "" for none.
func sumLine(name, tested string, format func(float64) string, of func(*score.Result) int64) line {
	known := func(n float64) string {
		if n == 0 {
			return missing
		}
		return format(n)
	}
	return line{
		name: name, recorded: func(r *Report) string { return known(float64(of(&r.Recorded))) },
		policy: func(r *Report, p *score.Result) string {
			if p.Unmeasured != "" {
				return missing
			}
			was, is := float64(of(&r.Recorded)), float64(of(p))
			if was == 0 {
				return known(is)
			}
			more, chance := int(math.Round(100*(is-was)/was)), ""
			if more != 0 && tested != "" {
				chance = mark(r.withRecorded(p.Policy, tested))
			}
			return noted(format(is), fmt.Sprintf("(%s%s %%)", chance, signed(more)))
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
		all = append(all, riskLine(fmt.Sprintf("accuracy, surest %d %%", q), func(x *score.Risk) (score.Figure, int) {
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
		return noted(percent(float64(f)), "n="+thousands(n))
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
		row("lines posted", func(s *score.Simulated) int { return s.Said }),
		row("passed, no lines left", func(s *score.Simulated) int { return s.Passed }),
		row("failed", func(s *score.Simulated) int { return s.Failed }),
		row("lines not posted", func(s *score.Simulated) int { return s.Unspoken }),
	}
}
