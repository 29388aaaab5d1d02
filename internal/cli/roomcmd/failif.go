package roomcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/condition"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/problem"
)

// A figure is a number of the summary that --fail-if compares. ofSeat is nil for
// figures that a seat does not have.
type figure struct {
	name   string
	of     func(summary) float64
	ofSeat func(seatSummary) float64
}

func figures() []figure {
	return []figure{
		{"turns", func(s summary) float64 { return float64(s.Turns) }, func(x seatSummary) float64 { return float64(x.Turns) }},
		{"passed", func(s summary) float64 { return float64(s.Passed) }, func(x seatSummary) float64 { return float64(x.Passed) }},
		{"failures", func(s summary) float64 { return float64(s.Failures) }, func(x seatSummary) float64 { return float64(x.Failures) }},
		{"suspended", func(s summary) float64 { return float64(s.Suspended) }, isSuspended},
		{"tokens", func(s summary) float64 { return float64(s.Tokens) }, func(x seatSummary) float64 { return float64(x.Tokens) }},
		{"cost", func(s summary) float64 { return s.Cost }, func(x seatSummary) float64 { return x.Cost }},
		{"messages", func(s summary) float64 { return float64(s.Messages) }, nil},
		{"declined", func(s summary) float64 { return float64(s.Declined) }, nil},
		{"seconds", func(s summary) float64 { return s.Seconds }, nil},
	}
}

func isSuspended(x seatSummary) float64 {
	if x.Standing == "suspended" {
		return 1
	}
	return 0
}

// parseConditions reads the conditions of --fail-if, about a room with these
// seats.
func parseConditions(texts, seats []string) ([]condition.Condition, error) {
	var all []condition.Condition
	for _, text := range texts {
		c, ok := condition.Parse(text)
		i := slices.IndexFunc(figures(), func(f figure) bool { return f.name == c.Figure })
		switch {
		case !ok:
			return nil, badCondition(text, "not a condition", "write FIGURE OP NUMBER, such as 'turns < 4'; "+listFigures(nil))
		case i < 0:
			return nil, badCondition(text, fmt.Sprintf("there is no figure %q", c.Figure), listFigures(names(c.Of != "")), config.Suggest(c.Figure, names(c.Of != "")))
		case c.Of != "" && !slices.Contains(seats, c.Of):
			return nil, badCondition(text, fmt.Sprintf("%q is no agent of this room", c.Of), "the agents are "+strings.Join(seats, ", "), config.Suggest(c.Of, seats))
		case c.Of != "" && figures()[i].ofSeat == nil:
			return nil, badCondition(text, "a seat has no figure "+c.Figure, listFigures(names(true)))
		}
		all = append(all, c)
	}
	return all, nil
}

// names lists the figures, of a room or of a seat.
func names(ofSeat bool) (list []string) {
	for _, f := range figures() {
		if !ofSeat || f.ofSeat != nil {
			list = append(list, f.name)
		}
	}
	return list
}

func listFigures(list []string) string {
	if list != nil {
		return "the figures are " + strings.Join(list, ", ")
	}
	return "the figures are " + strings.Join(names(false), ", ") + ", and SEAT.FIGURE with " + strings.Join(names(true), ", ")
}

func badCondition(text, what string, fixes ...string) error {
	slices.Reverse(fixes) // the suggestion first
	fixes = slices.DeleteFunc(fixes, func(s string) bool { return s == "" })
	return &problem.Error{Code: "RUN-CONDITION", What: what, Where: fmt.Sprintf("--fail-if %q", text), Fix: strings.Join(fixes, " ")}
}

// judge returns the conditions that hold, each with the value of its figure.
func (s summary) judge(conditions []condition.Condition) (hold []string) {
	for _, c := range conditions {
		x := s.valueOf(c)
		if c.Holds(x) {
			hold = append(hold, fmt.Sprintf("%s: it is %s", c.Text, strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.6f", x), "0"), ".")))
		}
	}
	return hold
}

// valueOf returns the figure that a condition of parseConditions compares.
func (s summary) valueOf(c condition.Condition) float64 {
	for _, f := range figures() {
		if f.name != c.Figure {
			continue
		}
		if c.Of == "" {
			return f.of(s)
		}
		for _, x := range s.Seats {
			if x.ID == c.Of {
				return f.ofSeat(x)
			}
		}
	}
	return 0
}
