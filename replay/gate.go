package replay

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/problem"
)

// A Condition fails a replay when it holds: a figure, of one policy or of
// any, against a bound. The form is [POLICY.]FIGURE OP NUMBER, such as
// "adaptive.accuracy < 0.6", "errors > 0" or "decline_rate >= 40%".
type Condition struct {
	text           string
	policy, figure string
	op             string
	limit          float64
}

// A Gate is a condition with what was observed. Passed means that the
// condition does not hold.
type Gate struct {
	Gate     string `json:"gate"`
	Policy   string `json:"policy"`
	Figure   string `json:"figure"`
	Observed Figure `json:"observed"`
	Limit    Figure `json:"limit"`
	Passed   bool   `json:"passed"`
}

var conditionForm = regexp.MustCompile(`^\s*(?:(.+)\.)?([a-z0-9_]+)\s*(<=|>=|==|!=|<|>)\s*(-?[0-9]+(?:\.[0-9]+)?)\s*(%?)\s*$`)

// ParseCondition reads a condition. policies are the names it may speak of.
func ParseCondition(text string, policies []string) (Condition, error) {
	bad := func(what string) (Condition, error) {
		return Condition{}, &problem.Error{
			Code: "REPLAY-GATE", What: what, Where: fmt.Sprintf("--fail-if %q", text),
			Fix: "write [POLICY.]FIGURE OP NUMBER; the figures are " + strings.Join(Figures(), ", "),
		}
	}
	m := conditionForm.FindStringSubmatch(text)
	if m == nil {
		return bad("not a condition")
	}
	c := Condition{text: strings.TrimSpace(text), policy: m[1], figure: m[2], op: m[3]}
	if figureOf(&Result{}, c.figure) == nil {
		return bad(fmt.Sprintf("there is no figure %q", c.figure))
	}
	known := c.policy == ""
	for _, p := range policies {
		known = known || p == c.policy
	}
	if !known {
		return bad(fmt.Sprintf("policy %q is not replayed", c.policy))
	}
	c.limit, _ = strconv.ParseFloat(m[4], 64) // the form allows numbers only
	if m[5] != "" {
		c.limit /= 100
	}
	return c, nil
}

// Figures returns the names of all figures that a condition may use.
func Figures() []string {
	var names []string
	for _, m := range measures {
		names = append(names, m.key)
	}
	return append(names, "hits", "declines", "finishes", "errors", "flips", "differing", "tokens", "cost", "p50_ms", "p99_ms",
		"ece", "accuracy_at_25", "accuracy_at_50", "accuracy_at_75")
}

// figureOf returns a figure of a policy by name, nil for none.
func figureOf(r *Result, name string) *Figure {
	for _, m := range measures {
		if m.key == name {
			return m.at(r)
		}
	}
	whole := func(n int) *Figure { f := Figure(n); return &f }
	switch name {
	case "hits":
		return whole(r.Hits)
	case "declines":
		return whole(r.Declines)
	case "finishes":
		return whole(r.Finishes)
	case "errors":
		return whole(r.Errors)
	case "flips":
		return whole(r.Flips.Total)
	case "differing":
		return whole(r.Differing)
	case "tokens":
		return whole(int(r.Tokens))
	case "cost":
		return whole(int(r.Cost))
	case "ece":
		return some(r.Risk, func() Figure { return r.Risk.ECE })
	case "accuracy_at_25", "accuracy_at_50", "accuracy_at_75":
		at, _ := strconv.Atoi(strings.TrimPrefix(name, "accuracy_at_"))
		return some(r.Risk, func() Figure { return r.Risk.At(at) })
	case "p50_ms":
		return &r.P50
	case "p99_ms":
		return &r.P99
	}
	return nil
}

// some is a figure of a policy that states a confidence, NaN for another.
func some(r *Risk, of func() Figure) *Figure {
	f := Figure(math.NaN())
	if r != nil {
		f = of()
	}
	return &f
}

// Judge adds to the report how each condition came out and returns whether
// all gates are passed. A figure that there is nothing to measure of fails.
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

func (c Condition) gate(r *Result) Gate {
	observed := float64(*figureOf(r, c.figure))
	return Gate{
		Gate: c.text, Policy: r.Policy, Figure: c.figure, Observed: Figure(observed), Limit: Figure(c.limit),
		Passed: !math.IsNaN(observed) && !holds(observed, c.op, c.limit),
	}
}

func holds(x float64, op string, limit float64) bool {
	switch op {
	case "<":
		return x < limit
	case "<=":
		return x <= limit
	case ">":
		return x > limit
	case ">=":
		return x >= limit
	case "==":
		return x == limit
	}
	return x != limit
}
