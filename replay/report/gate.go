package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/replay/score"
)

// A Condition fails a replay when it holds: it compares a figure, of one policy
// or of any, with a number. Its form is [POLICY.]FIGURE OP NUMBER, such as
// "adaptive.accuracy < 0.6", "errors > 0" or "decline_rate >= 40%".
type Condition struct {
	text           string
	policy, figure string
	op             string
	limit          float64
}

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

var conditionForm = regexp.MustCompile(`^\s*(?:(.+)\.)?([a-z0-9_]+)\s*(<=|>=|==|!=|<|>)\s*(-?[0-9]+(?:\.[0-9]+)?)\s*(%?)\s*$`)

// ParseCondition parses a condition about policies with these names.
func ParseCondition(text string, policies []string) (Condition, error) {
	fail := func(what string) (Condition, error) {
		return Condition{}, &problem.Error{
			Code: "REPLAY-GATE", What: what, Where: fmt.Sprintf("--fail-if %q", text),
			Fix: "write [POLICY.]FIGURE OP NUMBER; the figures are " + strings.Join(score.FigureNames(), ", "),
		}
	}
	m := conditionForm.FindStringSubmatch(text)
	if m == nil {
		return fail("not a condition")
	}
	c := Condition{text: strings.TrimSpace(text), policy: m[1], figure: m[2], op: m[3]}
	if !slices.Contains(score.FigureNames(), c.figure) {
		return fail(fmt.Sprintf("unknown figure %q", c.figure))
	}
	if c.policy != "" && !slices.Contains(policies, c.policy) {
		return fail(fmt.Sprintf("policy %q is not part of this replay", c.policy))
	}
	c.limit, _ = strconv.ParseFloat(m[4], 64) // the form allows numbers only
	if m[5] != "" {
		c.limit /= 100
	}
	return c, nil
}

// Judge adds a gate for each condition and policy, and returns whether all are
// passed. A figure that is NaN fails.
func (r *Report) Judge(conditions []Condition) bool {
	passed := true
	for _, c := range conditions {
		for i := range r.Policies {
			if p := &r.Policies[i]; c.policy == "" || c.policy == p.Policy {
				g := c.gate(p)
				passed = passed && g.Passed
				r.Gates = append(r.Gates, g)
			}
		}
	}
	return passed
}

func (c Condition) gate(r *score.Result) Gate {
	observed, _ := r.Figure(c.figure)
	return Gate{
		Gate: c.text, Policy: r.Policy, Figure: c.figure, Observed: observed, Limit: score.Figure(c.limit),
		Passed: !observed.IsNone() && !holds(float64(observed), c.op, c.limit),
	}
}

func holds(x float64, op string, limit float64) bool {
	c := cmp.Compare(x, limit)
	return map[string]bool{"<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0, "==": c == 0, "!=": c != 0}[op]
}
