package endpoint

// Bounds of what an agent states of one turn. They keep sums over a room from
// overflowing.
const (
	MaxTokens = 1_000_000_000
	MaxCost   = 1_000_000_000_000 // in millionths of a US dollar: a million dollars
)

// Usage counts the tokens of a turn. Known is false when the agent did not
// state it. The JSON form is part of the event format.
type Usage struct {
	Known  bool  `json:"known,omitempty"`
	Input  int64 `json:"input_tokens,omitempty"`
	Output int64 `json:"output_tokens,omitempty"`

	// CachedInput is the part of Input that the model read from a cache, and
	// Reasoning the part of Output that is not in the answer. Both are 0 if the
	// agent does not state them.
	CachedInput int64 `json:"cached_input_tokens,omitempty"`
	Reasoning   int64 `json:"reasoning_tokens,omitempty"`

	// Cost is what the agent says that the turn has cost, in millionths of a US
	// dollar. CostKnown is false if it says nothing; Known may still be true.
	CostKnown bool  `json:"cost_known,omitempty"`
	Cost      int64 `json:"cost,omitempty"`
}

// OutOfRange returns the JSON name of the first figure of u that is negative or over
// its bound, or "". A part must not be larger than the whole: the cached tokens than
// the input, the reasoning than the output.
func (u Usage) OutOfRange() string {
	for _, f := range []struct {
		name       string
		value, max int64
	}{
		{"input_tokens", u.Input, MaxTokens},
		{"output_tokens", u.Output, MaxTokens},
		{"cached_input_tokens", u.CachedInput, u.Input},
		{"reasoning_tokens", u.Reasoning, u.Output},
		{"cost", u.Cost, MaxCost},
	} {
		if f.value < 0 || f.value > f.max {
			return f.name
		}
	}
	return ""
}
