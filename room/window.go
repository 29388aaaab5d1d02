package room

// A Span is a run of the log, both ends included. Of its events it means the
// messages that the window's participant may read.
type Span struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// An Omission is a span whose messages are left out and only counted.
type Omission struct {
	Span
	Messages int     `json:"messages"`
	By       []Count `json:"by,omitempty"` // in order of first appearance
}

// A Count is how many messages somebody sent.
type Count struct {
	From     string `json:"from"`
	Messages int    `json:"messages"`
}

// A Window is what a participant is handed at its turn: which messages, not
// their texts. What is delivered, summarised and omitted is together
// everything that the participant may read since After.
type Window struct {
	After    int64      `json:"after"`              // its catch-up cursor: it has been handed everything up to here
	Through  int64      `json:"through"`            // newest event taken into account
	Full     bool       `json:"full,omitempty"`     // it does not remember: nothing before is taken as known
	Verbatim []Span     `json:"verbatim,omitempty"` // handed over whole
	Lines    []Span     `json:"lines,omitempty"`    // handed over as one line a message
	Omitted  []Omission `json:"omitted,omitempty"`  // only counted, and said to be
	Tokens   int        `json:"tokens"`             // estimate
}
