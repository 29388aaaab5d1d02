// Package condition reads the conditions of --fail-if: a figure, a comparison,
// and a number.
package condition

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// A Condition compares a figure with a number. Its form is [OF.]FIGURE OP
// NUMBER[%], such as "turns < 4", "adaptive.accuracy < 60%" or "dba.failures > 0".
type Condition struct {
	Text   string  // as written, trimmed
	Of     string  // what the figure is of: a policy or a seat; "" is any, or the whole
	Figure string  // lower-case letters, digits and _
	Op     string  // < <= == != >= or >
	Limit  float64 // percentages are divided by 100
}

var form = regexp.MustCompile(`^(?:(.+)\.)?([a-z0-9_]+)\s*(<=|>=|==|!=|<|>)\s*(-?[0-9]+(?:\.[0-9]+)?)\s*(%?)$`)

// Parse reads a condition. It does not know which figures there are. ok is false
// if the text has another form.
func Parse(text string) (c Condition, ok bool) {
	text = strings.TrimSpace(text)
	m := form.FindStringSubmatch(text)
	if m == nil {
		return Condition{}, false
	}
	limit, err := strconv.ParseFloat(m[4], 64)
	if err != nil { // out of range
		return Condition{}, false
	}
	if m[5] != "" {
		limit /= 100
	}
	return Condition{Text: text, Of: m[1], Figure: m[2], Op: m[3], Limit: limit}, true
}

// Holds reports whether the condition holds for the value x of its figure.
func (c Condition) Holds(x float64) bool {
	switch order := cmp.Compare(x, c.Limit); c.Op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	case "==":
		return order == 0
	}
	return x != c.Limit
}
