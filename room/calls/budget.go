package calls

import "math/bits"

// A Budget is an amount of tokens, of cost in millionths, and of calls.
type Budget struct {
	Tokens int64 `json:"tokens,omitempty"`
	Cost   int64 `json:"cost,omitempty"`
	Calls  int   `json:"calls,omitempty"`
}

// Plus returns the sum of two budgets.
func (b Budget) Plus(c Budget) Budget {
	return Budget{min(b.Tokens+c.Tokens, maxSum), min(b.Cost+c.Cost, maxSum), b.Calls + c.Calls}
}

const (
	// Unlimited is the budget of tokens of a call from a room without a limit.
	Unlimited = 200_000
	// share is the part of what is left that a call gets which names no budget: one
	// fourth, so that several calls at once and the caller itself have enough.
	share = 4
	// MinTokens is the smallest budget with which a call is worth its prompt.
	MinTokens = 500
)

// A Rest is what is left of the limits of a room: limits less what was spent and what
// is reserved. Tokens and Cost are negative without such a limit.
type Rest struct {
	Tokens, Cost int64
	Calls        int // calls that the room and the rooms below it may still make
}

// NoLimit stands for a limit that a room does not have.
const NoLimit = -1

// Reserve returns the budget of a call that asks for that many tokens, 0 for a share,
// and says which limit forbids the call. nested says that the call may make calls.
func (r Rest) Reserve(tokens int64, nested bool) (b Budget, refused string) {
	if r.Calls < 1 {
		return Budget{}, "maxCalls"
	}
	b.Calls = 1
	if nested {
		b.Calls += (r.Calls - 1) / share
	}
	switch {
	case r.Tokens < 0:
		b.Tokens = tokens
		if tokens <= 0 {
			b.Tokens = Unlimited
		}
	case tokens > r.Tokens || tokens <= 0 && r.Tokens/share < MinTokens:
		return Budget{}, "maxTokens"
	case tokens <= 0:
		b.Tokens = r.Tokens / share
	default:
		b.Tokens = tokens
	}
	if r.Cost < 0 {
		return b, ""
	}
	b.Cost = r.Cost / share
	if r.Tokens > 0 { // the same part as of the tokens
		hi, lo := bits.Mul64(uint64(r.Cost), uint64(b.Tokens))
		part, _ := bits.Div64(hi, lo, uint64(r.Tokens)) // b.Tokens <= r.Tokens
		b.Cost = int64(part)
	}
	if b.Cost <= 0 {
		return Budget{}, "maxCost"
	}
	return b, ""
}

// Less returns what is left when b is reserved too.
func (r Rest) Less(b Budget) Rest {
	r.Calls -= b.Calls
	if r.Tokens >= 0 {
		r.Tokens = max(0, r.Tokens-b.Tokens)
	}
	if r.Cost >= 0 {
		r.Cost = max(0, r.Cost-b.Cost)
	}
	return r
}
