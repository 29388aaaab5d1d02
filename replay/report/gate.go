package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/condition"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/replay/score"
)

// A Condition fails a replay when it holds: it compares a figure, of one policy
// or of any, with a number. Its form is [POLICY.]FIGURE OP NUMBER, such as
// "adaptive.accuracy < 0.6", "errors > 0" or "decline_rate >= 40%".
type Condition struct{ condition.Condition }

// A Gate is a condition applied to a policy. Passed means that the condition
// does not hold.
type Gate struct {
	Gate     string       `json:"gate"`
	Policy   string       `json:"policy"`
	Figure   string       `json:"figure"`
	Observed score.Figure `json:"observed"`
	Limit    score.Figure `json:"limit"`
	Passed   bool         `json:"passed"`
}

// ParseCondition parses a condition about policies with these names.
func ParseCondition(text string, policies []string) (Condition, error) {
	fail := func(what string) (Condition, error) {
		return Condition{}, &problem.Error{
			Code: "REPLAY-GATE", What: what, Where: fmt.Sprintf("--fail-if %q", text),
			Fix: "write [POLICY.]FIGURE OP NUMBER; the figures are " + strings.Join(score.FigureNames(), ", "),
		}
	}
	c, ok := condition.Parse(text)
	if !ok {
		return fail("not a condition")
	}
	if !slices.Contains(score.FigureNames(), c.Figure) {
		return fail(fmt.Sprintf("unknown figure %q", c.Figure))
	}
	if c.Of != "" && !slices.Contains(policies, c.Of) {
		return fail(fmt.Sprintf("policy %q is not part of this replay", c.Of))
	}
	return Condition{c}, nil
}

// Judge adds a gate for each condition and policy, and returns whether all are
// passed. A figure that is NaN fails.
func (r *Report) Judge(conditions []Condition) bool {
	passed := true
	for _, c := range conditions {
		for i := range r.Policies {
			if p := &r.Policies[i]; c.Of == "" || c.Of == p.Policy {
				g := c.gate(p)
				passed = passed && g.Passed
				r.Gates = append(r.Gates, g)
			}
		}
	}
	return passed
}

func (c Condition) gate(r *score.Result) Gate {
	observed, _ := r.Figure(c.Figure)
	return Gate{
		Gate: c.Text, Policy: r.Policy, Figure: c.Figure, Observed: observed, Limit: score.Figure(c.Limit),
		Passed: !observed.IsNone() && !c.Holds(float64(observed)),
	}
}
