package waste

import (
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/condition"
)

func TestGates(t *testing.T) {
	c := conversation("p: buy tea", "a: "+plan, "b: "+plan)
	for text, passed := range map[string]bool{
		"waste > 20%": false, "waste < 20%": true, "exact_duplicates > 0.9": true, "near_duplicates == 0": false,
		"turns > 3": true, "runs != 1": true, "tokens < 34": true, "prompts > 0": false,
		"after_error > 50%": false, "false_alarms > 0": false, // nothing to measure
	} {
		c1, err := ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		r := reportOf(c)
		if got := r.Judge([]condition.Condition{c1}); got != passed || len(r.Gates) != 1 || r.Gates[0].Passed != passed {
			t.Errorf("%s: %t, %+v", text, got, r.Gates)
		}
	}
	for _, text := range []string{"", "waste", "wasted > 1", "adaptive.waste > 1"} {
		if _, err := ParseCondition(text); err == nil || !strings.Contains(err.Error(), "WASTE-GATE") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if r := reportOf(); !r.Judge(nil) || r.Judge([]condition.Condition{{Text: "waste > 0", Figure: "waste", Op: ">"}}) {
		t.Error("an empty report passes a gate")
	}
}
