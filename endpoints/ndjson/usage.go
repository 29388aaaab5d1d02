package ndjson

import (
	"math"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// perDollar is how many units of [endpoint.Usage].Cost a US dollar has.
const perDollar = 1_000_000

// outOfRange returns the name of the first figure that is out of range, or "".
func (u *usage) outOfRange() string {
	if c := u.CostUSD; c != nil && !(*c >= 0 && *c <= endpoint.MaxCost/perDollar) { // its conversion could overflow
		return "cost_usd"
	}
	return u.stated().OutOfRange()
}

// stated returns what the agent has stated of the turn. The tokens are known if one
// of the two counts is there.
func (u *usage) stated() endpoint.Usage {
	out := endpoint.Usage{Known: u.Input != nil || u.Output != nil, CachedInput: u.CachedInput, Reasoning: u.Reasoning}
	if u.Input != nil {
		out.Input = *u.Input
	}
	if u.Output != nil {
		out.Output = *u.Output
	}
	if u.CostUSD != nil {
		out.CostKnown, out.Cost = true, int64(math.Round(*u.CostUSD*perDollar))
	}
	return out
}

// usageOf is the inverse of stated. It returns nil if nothing is stated.
func usageOf(s endpoint.Usage) *usage {
	if !s.Known && !s.CostKnown {
		return nil
	}
	u := &usage{CachedInput: s.CachedInput, Reasoning: s.Reasoning}
	if s.Known {
		u.Input, u.Output = &s.Input, &s.Output
	}
	if s.CostKnown {
		dollars := float64(s.Cost) / perDollar
		u.CostUSD = &dollars
	}
	return u
}
