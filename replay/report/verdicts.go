package report

import (
	"fmt"

	"github.com/folkmoot/moot/replay/score"
)

// A verdict is one check of a policy, for the forms that other programs read: a gate,
// that it decided without errors, and that the replay is complete.
type verdict struct {
	policy string
	rule   string // one of the rules below
	name   string // of the check
	fault  string // why it did not pass; "" if it did
	broken bool   // it could not be checked, or the policy failed
}

// Rules of the verdicts.
const (
	ruleGate    = "gate"
	ruleErrors  = "policy-errors"
	rulePartial = "partial-replay"
)

// verdicts returns the checks of each policy, in the order of the policies.
func (r *Report) verdicts() []verdict {
	var all []verdict
	for i := range r.Policies {
		p := &r.Policies[i]
		all = append(all, errorsOf(p))
		if r.Partial {
			all = append(all, verdict{
				policy: p.Policy, rule: rulePartial, name: "the replay is complete", broken: true,
				fault: "the replay was interrupted after " + count(r.Decisions, "decision"),
			})
		}
		for _, g := range r.Gates {
			if g.Policy == p.Policy {
				all = append(all, g.verdict())
			}
		}
	}
	return all
}

func errorsOf(p *score.Result) verdict {
	v := verdict{policy: p.Policy, rule: ruleErrors, name: "decides without errors"}
	if p.Errors > 0 {
		v.broken = true
		v.fault = fmt.Sprintf("the policy failed at %s of %s; the first error: %s", thousands(p.Errors), count(p.Decisions, "decision"), p.FirstError)
	}
	return v
}

func (g *Gate) verdict() verdict {
	v := verdict{policy: g.Policy, rule: ruleGate, name: g.Gate}
	switch {
	case g.Passed:
	case g.Observed.IsNone():
		v.fault = "there is nothing to measure for " + g.Figure
	default:
		v.fault = fmt.Sprintf("%s is %s, so the gate %q fails", g.Figure, number(g.Observed), g.Gate)
	}
	return v
}
