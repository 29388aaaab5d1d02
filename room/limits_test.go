package room

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

func TestChargeOf(t *testing.T) {
	cheap := Price{Input: 2_000_000, CachedInput: 1_000_000, Output: 3_000_000} // 2, 1 and 3 millionths a token
	plain := Price{Input: 2_000_000, Output: 3_000_000}
	stated := Usage{Known: true, Input: 10, Output: 5, CachedInput: 4, Reasoning: 2}
	for _, c := range []struct {
		name  string
		price Price
		usage Usage
		want  charge
	}{
		{"stated tokens", cheap, stated, charge{tokens: 15, cached: 4, reasoning: 2, cost: 6*2 + 4 + 5*3}},
		{"no price of cached input", plain, stated, charge{tokens: 15, cached: 4, reasoning: 2, cost: 10*2 + 5*3}},
		{"no price", Price{}, stated, charge{tokens: 15, cached: 4, reasoning: 2}},
		{"a stated cost replaces the price", cheap, Usage{Known: true, Input: 10, CostKnown: true, Cost: 7}, charge{tokens: 10, cost: 7}},
		{"a stated cost of nothing", cheap, Usage{Known: true, Input: 10, CostKnown: true}, charge{tokens: 10}},
		{"a stated cost without a price", Price{}, Usage{CostKnown: true, Cost: 7}, charge{tokens: 9, cost: 7, estimated: true}},
		{"nothing stated", cheap, Usage{}, charge{tokens: 9, cost: 7*2 + 2*3, estimated: true, costEstimated: true}},
		{"nothing stated, no price", Price{}, Usage{}, charge{tokens: 9, estimated: true}},
		{"a cost that is not stated", plain, Usage{Known: true, Input: 1, Cost: 99}, charge{tokens: 1, cost: 2}},
		{"tokens that are not stated", Price{}, Usage{Input: 50, Output: 50, CachedInput: 50, Reasoning: 50}, charge{tokens: 9, estimated: true}},
		{"an impossible part makes all unknown", Price{}, Usage{Known: true, Input: 3, CachedInput: 4, CostKnown: true, Cost: 5}, charge{tokens: 9, estimated: true}},
		{"an impossible cost", Price{}, Usage{Known: true, Input: 3, CostKnown: true, Cost: -5}, charge{tokens: 9, estimated: true}},
	} {
		if got := chargeOf(c.price, c.usage, 7, "eight by"); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if got := chargeOf(cheap, Usage{}, -7, ""); got != (charge{estimated: true}) {
		t.Errorf("a negative estimate is charged as %+v", got)
	}
}

// TestSums adds charges as agents and logs may state them. The tokens that are known
// are the sum of what was reported, and nothing overflows.
func TestSums(t *testing.T) {
	figure := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, endpoint.MaxTokens), rapid.Just(int64(math.MaxInt64)), rapid.Just(int64(math.MinInt64)))
	rapid.Check(t, func(rt *rapid.T) {
		var tally Tally
		var x Seat
		p := Price{Input: figure.Draw(rt, "input"), CachedInput: figure.Draw(rt, "cached"), Output: figure.Draw(rt, "output")}
		tokens, stated := int64(0), true
		for range rapid.IntRange(1, 20).Draw(rt, "turns") {
			u := Usage{Known: rapid.Bool().Draw(rt, "known"), Input: figure.Draw(rt, "in"), Output: figure.Draw(rt, "out")}
			u.CachedInput, u.Reasoning = u.Input/2, u.Output/3
			c := chargeOf(p, u, figure.Draw(rt, "prompt"), "text")
			if u.Known && u.OutOfRange() == "" {
				tokens += u.Input + u.Output
			} else {
				stated = false
			}
			before := tally
			tally.add(c)
			x.add(c)
			if tally.Tokens < before.Tokens || tally.Cost < before.Cost || tally.Tokens > maxSum || tally.Cost > maxSum {
				rt.Fatalf("%+v has become %+v by %+v", before, tally, c)
			}
		}
		if stated && tally.Tokens != tokens || tally.Estimated == stated || tally.CachedInput > tokens || tally.Reasoning > tokens {
			rt.Errorf("%d tokens were stated, and %+v is counted", tokens, tally)
		}
		if x.Spent != tally.Tokens || x.Cost != tally.Cost || x.CachedInput != tally.CachedInput || x.Reasoning != tally.Reasoning ||
			x.Estimated != tally.Estimated || x.CostEstimated != tally.CostEstimated {
			rt.Errorf("the room counts %+v, its only seat %+v", tally, x)
		}
	})
}
