package endpoint

import (
	"encoding/json"
	"math"
	"testing"
)

func TestUsageOutOfRange(t *testing.T) {
	for _, c := range []struct {
		want string
		u    Usage
	}{
		{"", Usage{}},
		{"", Usage{Known: true, Input: MaxTokens, Output: MaxTokens, CachedInput: MaxTokens, Reasoning: MaxTokens, CostKnown: true, Cost: MaxCost}},
		{"", Usage{CostKnown: true, Cost: 5}},
		{"input_tokens", Usage{Known: true, Input: -1}},
		{"input_tokens", Usage{Known: true, Input: MaxTokens + 1}},
		{"output_tokens", Usage{Known: true, Output: math.MinInt64}},
		{"output_tokens", Usage{Known: true, Output: math.MaxInt64}},
		{"cached_input_tokens", Usage{Known: true, Input: 4, CachedInput: 5}},
		{"cached_input_tokens", Usage{Known: true, Input: 4, CachedInput: -1}},
		{"cached_input_tokens", Usage{CachedInput: 1}},
		{"reasoning_tokens", Usage{Known: true, Input: 9, Output: 4, Reasoning: 5}},
		{"reasoning_tokens", Usage{Known: true, Reasoning: -1}},
		{"cost", Usage{Known: true, CostKnown: true, Cost: -1}},
		{"cost", Usage{CostKnown: true, Cost: MaxCost + 1}},
	} {
		if got := c.u.OutOfRange(); got != c.want {
			t.Errorf("%+v: %q is out of range, want %q", c.u, got, c.want)
		}
	}
}

// TestUsageJSON compares the form in events, which does not change.
func TestUsageJSON(t *testing.T) {
	for want, u := range map[string]Usage{
		`{}`: {},
		`{"known":true,"input_tokens":7,"output_tokens":3}`: {Known: true, Input: 7, Output: 3},
		`{"known":true,"input_tokens":7,"output_tokens":3,"cached_input_tokens":5,"reasoning_tokens":2,"cost_known":true,"cost":120}`: {
			Known: true, Input: 7, Output: 3, CachedInput: 5, Reasoning: 2, CostKnown: true, Cost: 120,
		},
	} {
		got, err := json.Marshal(u)
		if err != nil || string(got) != want {
			t.Errorf("%+v: %s, %v, want %s", u, got, err, want)
		}
		var back Usage
		if err := json.Unmarshal([]byte(want), &back); err != nil || back != u {
			t.Errorf("%s is read as %+v, %v", want, back, err)
		}
	}
}
