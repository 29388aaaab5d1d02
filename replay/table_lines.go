package replay

import (
	"fmt"
	"math"
	"strings"

	"github.com/folkmoot/moot/internal/term"
)

// line is one row of the table: what it says of the recorded and of a policy.
type line struct {
	name     string
	n        func(*Report) string // of how many decisions; nil when that is not one number
	recorded func(*Report) string
	policy   func(*Report, *Result) string
}

func (r *Report) grid() grid {
	g := grid{{"", "n", recordedName}}
	for _, p := range r.Policies {
		g[0] = append(g[0], term.Line(p.Policy))
	}
	for _, l := range r.lines() {
		row := []string{l.name, "", "—"}
		if l.n != nil {
			row[1] = l.n(r)
		}
		if l.recorded != nil {
			row[2] = l.recorded(r)
		}
		for i := range r.Policies {
			row = append(row, l.policy(r, &r.Policies[i]))
		}
		g.row(row...)
	}
	return g
}

// own is a row whose figure stands for itself, with its interval for policies
// and, where each has its own, the number of decisions that it is about.
func own(name, key string, show func(float64) string, recorded bool) line {
	l := line{name: name, n: func(r *Report) string {
		if n, ok := r.sameN(key); ok {
			return thousands(n)
		}
		return ""
	}}
	if recorded {
		l.recorded = func(r *Report) string { return show(float64(*figureOf(&r.Recorded, key))) }
	}
	l.policy = func(r *Report, p *Result) string {
		s := show(float64(*figureOf(p, key)))
		if i := p.Intervals[key]; !math.IsNaN(float64(i[0])) && s != "—" {
			s += " " + bounds(i, show)
		}
		if c := r.comparison(recordedName, p.Policy, key); c != nil && recorded && s != "—" && c.Difference != 0 {
			s += " " + c.mark() + "p=" + number(float64(c.P))
		}
		if _, same := r.sameN(key); !same && s != "—" {
			s += " n=" + thousands(p.N[key])
		}
		return s
	}
	return l
}

// sameN returns of how many decisions a figure is, when that is the same for
// all policies.
func (r *Report) sameN(key string) (int, bool) {
	n := 0
	for i := range r.Policies {
		if m := r.Policies[i].N[key]; i > 0 && m != n {
			return 0, false
		} else if i == 0 {
			n = m
		}
	}
	return n, true
}

// bounds is an interval: [36.0,40.5].
func bounds(i [2]Figure, show func(float64) string) string {
	bare := func(f Figure) string { return strings.TrimSuffix(show(float64(f)), " %") }
	return "[" + bare(i[0]) + "," + bare(i[1]) + "]"
}

func (r *Report) lines() []line {
	var all []line
	if r.Mode != ModeSimulate {
		all = append(
			all,
			own("same choice", "accuracy", percent, false),
			own("  mean of transcripts", "macro_accuracy", percent, false),
			own("  truth had spoken before", "accuracy_seen", percent, false),
			own("  of those not declined", "selective_accuracy", percent, false),
			own("mean reciprocal rank", "mrr", decimal, false),
			own("speak or silence, balanced", "balanced_accuracy", percent, false),
		)
		all = append(all, r.riskLines()...)
	} else {
		all = append(all, runLines()...)
	}
	return append(
		all,
		line{
			name: "declines", recorded: func(r *Report) string { return thousands(r.Recorded.Declines) }, policy: declineCell,
			n: func(r *Report) string { return own("", "decline_rate", percent, true).n(r) },
		},
		own("airtime: top speaker", "top_speaker", percent, true),
		own("airtime: gini", "gini", decimal, true),
		own("airtime: entropy", "entropy", decimal, true),
		own("addressed but not chosen", "addressed_not_chosen", percent, true),
		spent("prompt tokens (~ estimate)", tokens, func(p *Result) int64 { return p.Tokens }),
		spent("cost of prompts (~ estimate)", money, func(p *Result) int64 { return p.Cost }),
		line{name: "decision p50 / p99", policy: func(_ *Report, p *Result) string {
			if math.IsNaN(float64(p.P50)) {
				return "—"
			}
			return fmt.Sprintf("%.3f / %.3f ms", float64(p.P50), float64(p.P99))
		}},
		line{name: "run twice, same bytes", policy: twiceCell},
		line{
			name: "errors", recorded: func(r *Report) string { return thousands(r.Recorded.Errors) },
			policy: func(_ *Report, p *Result) string { return thousands(p.Errors) },
		},
		line{name: "sandbox", policy: func(_ *Report, p *Result) string {
			if p.Reference {
				return notSandboxed
			}
			return "yes"
		}},
	)
}

// declineCell is how often a policy declined, how many more that is than was
// recorded, and whether that may be chance.
func declineCell(r *Report, p *Result) string {
	c := r.comparison(recordedName, p.Policy, "decline_rate")
	more, mark := p.Declines-r.Recorded.Declines, ""
	if more != 0 {
		mark = c.mark()
	}
	s := fmt.Sprintf("%s (%s%s)", thousands(p.Declines), mark, signed(more))
	if c != nil && c.Difference != 0 {
		s += " p=" + number(float64(c.P))
	}
	return s
}

func twiceCell(_ *Report, p *Result) string {
	switch {
	case p.Reference:
		return "—"
	case p.Differing > 0:
		return fmt.Sprintf("NO: %s of %s differ", thousands(p.Differing), thousands(p.Repeated))
	}
	return fmt.Sprintf("yes (%s)", thousands(p.Repeated))
}

// spent is a row of what adds up.
func spent(name string, show func(float64) string, of func(*Result) int64) line {
	return line{
		name: name, recorded: func(r *Report) string { return show(float64(of(&r.Recorded))) },
		policy: func(r *Report, p *Result) string {
			was, is := float64(of(&r.Recorded)), float64(of(p))
			if was == 0 {
				return show(is)
			}
			more, mark := int(math.Round(100*(is-was)/was)), ""
			if more != 0 {
				mark = r.comparison(recordedName, p.Policy, "tokens_a_decision").mark()
			}
			return fmt.Sprintf("%s (%s%s %%)", show(is), mark, signed(more))
		},
	}
}
