package waste

import (
	"math"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/internal/condition"
	"github.com/folkmoot/moot/problem"
)

// A Gate is a condition of --fail-if and the figure that it was applied to. Passed means
// that the condition does not hold.
type Gate struct {
	Gate     string  `json:"gate"`
	Figure   string  `json:"figure"`
	Observed Share   `json:"observed"`
	Limit    float64 `json:"limit"`
	Passed   bool    `json:"passed"`
}

// figureNames lists the figures of conditions.
func figureNames() []string {
	all := []string{"waste"}
	for _, k := range Kinds() {
		all = append(all, string(k))
	}
	return append(all, "tokens", "prompts", "turns", "runs", "false_alarms")
}

// ParseCondition parses a condition of --fail-if, such as "waste > 20%".
func ParseCondition(text string) (condition.Condition, error) {
	c, ok := condition.Parse(text)
	what := ""
	switch {
	case !ok:
		what = "not a condition"
	case c.Of != "" || !known(c.Figure):
		what = "unknown figure " + strconv.Quote(strings.TrimPrefix(c.Of+"."+c.Figure, "."))
	default:
		return c, nil
	}
	return c, &problem.Error{
		Code: "WASTE-GATE", What: what, Where: "--fail-if " + strconv.Quote(text),
		Fix: "write FIGURE OP NUMBER, such as waste > 20%; the figures are " + strings.Join(figureNames(), ", "),
	}
}

func known(figure string) bool {
	for _, name := range figureNames() {
		if name == figure {
			return true
		}
	}
	return false
}

// Judge adds a gate for each condition, and returns whether all are passed. A figure
// that is NaN fails.
func (r *Report) Judge(conditions []condition.Condition) bool {
	passed := true
	for _, c := range conditions {
		observed := r.Figure(c.Figure)
		g := Gate{c.Text, c.Figure, observed, c.Limit, !math.IsNaN(float64(observed)) && !c.Holds(float64(observed))}
		r.Gates = append(r.Gates, g)
		passed = passed && g.Passed
	}
	return passed
}

// Figure returns a figure by its name: the share of tokens of the waste or of a kind,
// of prompts for ResentContext (of any turn), or a count. It is NaN if there is nothing to measure.
func (r *Report) Figure(name string) Share {
	switch name {
	case "waste":
		return r.Waste.Share
	case "tokens":
		return Share(r.Tokens)
	case "prompts":
		return Share(r.Prompts)
	case "turns":
		return Share(r.Turns)
	case "runs":
		return Share(r.Runs)
	case string(ResentContext):
		return r.Kinds[resent].OfKind.ShareOfPrompts
	case "false_alarms":
		if r.Guard != nil {
			return shareOf(r.Guard.GoodStopped, r.Guard.Good)
		}
		return shareOf(0, 0)
	}
	for i := range r.Kinds {
		if string(r.Kinds[i].Kind) == name {
			return r.Kinds[i].Share
		}
	}
	return shareOf(0, 0)
}

// appendRounded appends f with at most four decimals.
func appendRounded(b []byte, f float64) []byte {
	return strconv.AppendFloat(b, math.Round(f*1e4)/1e4, 'f', -1, 64)
}
