package room

import "math/bits"

// Tally is what limits count.
type Tally struct {
	Turns    int   `json:"turns"`
	Failures int   `json:"failures"` // consecutive; only a success resets them
	Declines int   `json:"declines"` // in a row
	Messages int   `json:"messages"`
	Tokens   int64 `json:"tokens"`
	Cost     int64 `json:"cost"`
	Errors   int   `json:"errors"`   // failed turns in all
	Declined int   `json:"declined"` // declined rounds in all
}

// maxUsage is the most that a turn can have used of either; what is stated
// over it is no count of tokens.
const maxUsage = 1_000_000_000

// charge returns what a turn costs: the stated usage, or the estimate.
func charge(u Usage, prompt int64, text string) (tokens, input, output int64) {
	if u.Known && u.Input >= 0 && u.Output >= 0 && u.Input <= maxUsage && u.Output <= maxUsage {
		return u.Input + u.Output, u.Input, u.Output
	}
	out := int64(estimate(text))
	return prompt + out, prompt, out
}

// estimate is how many tokens a text is taken for.
func estimate(text string) int { return (len(text) + 3) / 4 }

func cost(p Price, input, output int64) int64 {
	return price(input, p.Input) + price(output, p.Output)
}

// price is what so many tokens cost, never less than nothing and never so
// much that a sum of it runs over.
func price(tokens, perMillion int64) int64 {
	if tokens <= 0 || perMillion <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(tokens), uint64(perMillion))
	if hi >= 1_000_000 {
		return maxCost
	}
	q, _ := bits.Div64(hi, lo, 1_000_000)
	return int64(min(q, maxCost))
}

const maxCost = 1 << 52

// reached returns the limit that t has reached once a turn has ended.
func (t Tally) reached(l Limits) (name, reason string) {
	switch {
	case t.Turns >= l.MaxTurns:
		return "maxTurns", count(t.Turns, "turn") + " granted"
	case t.Failures >= l.MaxFailures:
		return "maxFailures", count(t.Failures, "failure") + " in a row"
	case l.MaxTokens > 0 && t.Tokens >= l.MaxTokens:
		return "maxTokens", count(int(t.Tokens), "token") + " of " + itoa(l.MaxTokens) + " used"
	case l.MaxCost > 0 && t.Cost >= l.MaxCost:
		return "maxCost", "cost of " + itoa(t.Cost) + " reached " + itoa(l.MaxCost) + " millionths"
	}
	return "", ""
}
