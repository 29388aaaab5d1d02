package room

// Tally is what limits count.
type Tally struct {
	Turns    int
	Failures int // consecutive; only a success resets them
	Declines int // in a row
	Messages int
	Tokens   int64
	Cost     int64
	Errors   int // failed turns in all
	Declined int // declined rounds in all
}

// charge returns what a turn costs: the stated usage, or the estimate.
func charge(u Usage, prompt int64, text string) (tokens, input, output int64) {
	if u.Known && u.Input >= 0 && u.Output >= 0 {
		return u.Input + u.Output, u.Input, u.Output
	}
	out := int64(estimate(text))
	return prompt + out, prompt, out
}

// estimate is how many tokens a text is taken for.
func estimate(text string) int { return (len(text) + 3) / 4 }

func cost(p Price, input, output int64) int64 {
	return (input*p.Input + output*p.Output) / 1_000_000
}

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
