package room

import "time"

// Limits stop a room. A zero field means the default of [Defaults], never
// "unlimited"; the optional ones, MaxTokens and MaxCost, have no default.
type Limits struct {
	MaxTurns    int           `json:"max_turns,omitempty"`
	MaxDuration time.Duration `json:"max_duration_ns,omitempty"` // of the room's clock
	MaxFailures int           `json:"max_failures,omitempty"`    // consecutive
	MaxTokens   int64         `json:"max_tokens,omitempty"`
	MaxCost     int64         `json:"max_cost,omitempty"`     // in millionths, see Price
	MaxDeclines int           `json:"max_declines,omitempty"` // in a row
	MaxHops     int           `json:"max_hops,omitempty"`
	MaxCalls    int           `json:"max_calls,omitempty"` // child calls of the room
	MaxOutput   int           `json:"max_output_chars,omitempty"`

	TurnTimeout     time.Duration `json:"turn_timeout_ns,omitempty"`      // local, no tools
	ToolTurnTimeout time.Duration `json:"tool_turn_timeout_ns,omitempty"` // local, with tools
	RemoteTimeout   time.Duration `json:"remote_timeout_ns,omitempty"`
	BidTimeout      time.Duration `json:"bid_timeout_ns,omitempty"`
	DeclineRetry    time.Duration `json:"decline_retry_ns,omitempty"`
	MaxToolRounds   int           `json:"max_tool_rounds,omitempty"`
	MaxViolations   int           `json:"max_violations,omitempty"`
	SameText        int           `json:"same_text,omitempty"`     // the same text so often ...
	SameTextOf      int           `json:"same_text_of,omitempty"`  // ... among so many messages
	MaxInternal     int           `json:"max_internal,omitempty"`  // internal exchanges without progress
	MaxPingPong     int           `json:"max_ping_pong,omitempty"` // clarifications
}

// minRetry keeps a policy that declines from spinning.
const minRetry = 100 * time.Millisecond

// Retry is how long a room waits after a declined round, when the policy asked
// for that many milliseconds; 0 means that it did not say. l is in force.
func (l Limits) Retry(ms int64) time.Duration {
	retry := Duration(ms) * time.Millisecond
	switch most := l.MaxDuration; {
	case ms <= 0:
		retry = l.DeclineRetry
	case ms > most.Milliseconds():
		retry = most // the room ends before
	}
	return max(retry, minRetry)
}
